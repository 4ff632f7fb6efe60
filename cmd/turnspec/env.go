package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/turnspec/turnspec/fakes/relay"
	"github.com/turnspec/turnspec/fakes/standin"
)

func envCmd() *cobra.Command {
	var runtime, dir string
	cmd := &cobra.Command{
		Use:   "env --runtime RUNTIME",
		Short: "Print the variables with which a server finds the stand-in",
		Long: `A server that is started before ` + "`turnspec run --subject URL`" + ` must find the stand-in
where it looks for its runtime. Env puts a stand-in into a folder and prints the
variables for the shell that starts the server: PATH, and CODEX_PATH or
CLAUDE_CODE_EXECUTABLE. The stand-in works only during a run; otherwise it exits
at once with a message.`,
		Example: `  eval "$(turnspec env --runtime claude)" && node server.js
  turnspec env --runtime codex --standin ./standin`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := wraps(runtime); err != nil {
				return err
			}
			dir, err := place(dir)
			if err != nil {
				return err
			}
			vars, err := relay.Furnish(dir, standin.ProgramName(runtime), os.Environ())
			if err != nil {
				return err
			}
			for _, v := range vars {
				name, value, _ := strings.Cut(v, "=")
				if _, err := fmt.Fprintf(cmd.OutOrStdout(), "export %s=%s\n", name, quoted(value)); err != nil {
					return err
				}
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&runtime, "runtime", "", "the runtime that the server wraps: "+strings.Join(runtimeNames(), ", "))
	standinFlag(cmd, &dir)
	completeFlag(cmd, "runtime", runtimeNames)
	return cmd
}

func standinFlag(cmd *cobra.Command, dir *string) {
	cmd.Flags().StringVar(dir, "standin", "", "folder of the stand-in for a server that runs already (default: turnspec/standin in the user's cache)")
}

// place returns the folder of the stand-in for a server that is started before a
// run.
func place(dir string) (string, error) {
	if dir != "" {
		return filepath.Abs(dir)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no folder for the stand-in: %w; name one with --standin, for `turnspec env` and the run", err)
	}
	return filepath.Join(cache, "turnspec", "standin"), nil
}
