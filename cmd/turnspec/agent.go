package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/backend/acpagent"
	"github.com/turnspec/turnspec/adapters/backend/runner/message"
	"github.com/turnspec/turnspec/adapters/op"
	"github.com/turnspec/turnspec/adapters/reference"
)

func agentCmd() *cobra.Command {
	var f runnerFlags
	cmd := &cobra.Command{
		Use:   "agent",
		Short: "Be an ACP agent: editors start it, it runs sessions of a runtime",
		Long: `Agent speaks the Agent Client Protocol (ACP) over stdin and stdout. An editor starts it
as it starts any other agent: give it this command.

Without --runtime it is a demo that replays a recorded case, without a key or a network.
Whatever prompt is sent, the recorded one is.

A client may choose the mode of a session. Claude Code refuses the mode that never asks
unless it is started with --arg --allow-dangerously-skip-permissions, or in that mode.
--policy and --tool-preset bound the tools in each mode; what the runtime does without asking
is listed by ` + "`turnspec policy enforce`" + `.

` + "`go doc github.com/turnspec/turnspec/adapters/backend/acpagent`" + ` lists what of a session the protocol
can express.

Exit codes: 0 the client closed stdin, or SIGTERM, SIGINT or SIGHUP came; 1 a session
did not close; 2 wrong usage.`,
		Example: `  turnspec agent --runtime claude
  turnspec agent --runtime codex --policy policy.yaml
  turnspec agent --runtime claude --arg --allow-dangerously-skip-permissions
  turnspec run --runtime claude --subject acp -- turnspec agent --runtime claude --arg --allow-dangerously-skip-permissions`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			judge, err := f.tools.judge()
			if err != nil {
				return err
			}
			a, taps, err := f.adapter(cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			defer taps.Wait()
			ctx, stop := untilSignal(cmd.Context())
			defer stop()
			o := adapters.Options{Opening: op.Opening{Model: f.model, Mode: message.Mode(f.mode), Effort: f.effort, Args: f.args}, Judge: judge}
			if err := acpagent.Run(ctx, acpagent.Config{Adapter: a, Options: o, Version: buildVersion()}, cmd.InOrStdin(), cmd.OutOrStdout()); err != nil {
				return errors.Join(errFailed, err)
			}
			return nil
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.runtime, "runtime", "", "the runtime, which must be installed (default: a demo)")
	fl.StringVar(&f.caseID, "case", "", "the case that a demo replays (default: claude/newest/permission/allow)")
	fl.Float64Var(&f.speed, "speed", 1, "the speed of a demo: 2 halves the recorded pauses")
	fl.StringVar(&f.mode, "permission-mode", "default", "the mode of a new session: default, acceptEdits, plan, dontAsk, bypassPermissions, or one of the runtime's")
	fl.StringVar(&f.model, "model", "", "the model (default: the runtime's)")
	fl.StringVar(&f.effort, "effort", "", "how much the model reasons: low, medium, high, or a level of the runtime's")
	fl.StringArrayVar(&f.args, "arg", nil, "an argument for the runtime's program (may be repeated)")
	f.tools.register(cmd)
	tapFlag(cmd, &f.tap)
	_ = cmd.RegisterFlagCompletionFunc("runtime", complete(reference.Names))
	_ = cmd.RegisterFlagCompletionFunc("case", complete(caseIDs))
	_ = cmd.RegisterFlagCompletionFunc("permission-mode", cobra.FixedCompletions([]string{"default", "acceptEdits", "plan", "dontAsk", "bypassPermissions"}, cobra.ShellCompDirectiveNoFileComp))
	cmd.MarkFlagsMutuallyExclusive("runtime", "case")
	return cmd
}
