package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/recorder/registry"
	"github.com/turnspec/turnspec/recorder/tap"
)

func tapCmd() *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "tap --to FOLDER -- CMD [ARG…]",
		Short: "Record what passes between a client and its runtime, and change nothing",
		Long: `Tap starts CMD in its own place and records the lines of its stdin, stdout and stderr
into a new file in FOLDER. ` + "`turnspec import`" + ` makes a case of the file, which ` + "`turnspec run`" + `,
debug and shrink play to an adapter.

CMD has the process id, the group, the environment and the exit code that it would have
without tap, and receives the signals of its client itself. A second process passes the
bytes on as they come. If it cannot record, because the disk is full for example, the
session goes on; a file FOLDER/….error.txt says why. Only before CMD starts may tap write
to stderr. A stream that is a terminal is neither recorded nor changed.

Put tap where the client looks for the runtime, as a script with the path of the real one:

  #!/bin/sh
  exec turnspec tap --to ~/recordings -- /usr/local/bin/claude "$@"

in a folder that comes first in PATH, or as the program that CLAUDE_CODE_EXECUTABLE,
pathToClaudeCodeExecutable or CODEX_PATH names.

Names of this machine and its user, keys and other secrets are replaced before they reach
the disk, as in recordings of ` + "`turnspec record`" + `; the environment is not recorded. What users
and the model wrote, and the files that they read, stay in the recording: treat it as you
treat your logs.

Only lines of stdio are recorded: not the HTTP of ` + "`opencode serve`" + ` or of a server of chat
completions. For OpenCode, use ` + "`turnspec serve --tap`" + `. Tap needs a Unix system; elsewhere use
the flag --tap of serve, runner and agent too. The code with which CMD exits is recorded on
Linux 6.15 or later.

Exit codes: that of CMD; 2 it was not found or could not start.`,
		Example: `  turnspec tap --to recordings -- claude -p --input-format stream-json --output-format stream-json --verbose
  turnspec tap --to ~/recordings -- /usr/local/bin/codex app-server
  turnspec import recordings/20261129T101500.000Z-claude-4711.jsonl --out session.txtar`,
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case cmd.ArgsLenAtDash() != 0 || len(args) == 0 || args[0] == "":
				return errors.New("give the command of the runtime after --: turnspec tap --to FOLDER -- claude")
			case dir == "":
				return errors.New("--to is missing: name the folder for the recordings")
			}
			return nil
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveDefault
		},
		RunE: func(cmd *cobra.Command, args []string) error { return tap.Exec(dir, args, cmd.ErrOrStderr()) },
	}
	cmd.Flags().StringVar(&dir, "to", "", "the folder for the recordings, a file for each run of CMD (required)")
	_ = cmd.MarkFlagDirname("to")
	return cmd
}

// tapFlag declares the flag --tap of a command that runs sessions.
func tapFlag(cmd *cobra.Command, dir *string) {
	cmd.Flags().StringVar(dir, "tap", "", "record what passes between the adapter and the runtime into this folder, a file for each process (see `turnspec tap --help`)")
	_ = cmd.MarkFlagDirname("tap")
}

// tapsInto returns the recordings of a command's sessions, or nil. What is not recorded is
// reported to errOut.
func tapsInto(dir string, errOut io.Writer) *tap.Folder {
	if dir == "" {
		return nil
	}
	return &tap.Folder{Dir: dir, Failed: func(err error) { fmt.Fprintf(errOut, "turnspec: --tap: a recording is not whole: %v\n", err) }}
}

// tappedAdapter is an adapter whose runtimes are recorded.
type tappedAdapter struct {
	adapters.Adapter
	launcher proc.Launcher
}

// tapped returns an adapter whose runtimes are recorded, or a itself if to is nil.
func tapped(a adapters.Adapter, to *tap.Folder) (adapters.Adapter, error) {
	if to == nil {
		return a, nil
	}
	r, err := registry.Get(a.Capabilities().Runtime)
	if err != nil {
		return nil, fmt.Errorf("--tap: %w", err)
	}
	if r.Launcher != nil {
		return nil, fmt.Errorf("--tap: %s is no program that is started: what passes is not recorded", r.Wire.Name)
	}
	return tappedAdapter{a, to.Launcher(r.LauncherOfLines(proc.Exec{}))}, nil
}

// Open implements adapters.Adapter.
func (a tappedAdapter) Open(ctx context.Context, o adapters.Options) (adapters.Session, error) {
	o.Launch = a.launcher
	return a.Adapter.Open(ctx, o)
}
