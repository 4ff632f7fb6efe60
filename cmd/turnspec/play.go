package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/turnspec/turnspec/fakes/standin"
)

// standIn plays a case when this program was started under the name of a
// runtime, say through a link.
func standIn(args []string) (code int, handled bool) {
	handled, code = standin.Main(args[0], args[1:])
	return code, handled
}

func playCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "play RUNTIME --case CASE [ARG…]",
		Short: "Be a runtime on stdio: play a case to whoever is there",
		Long: `Play is a stand-in: it behaves as the real runtime did when the case was
recorded, and waits for each act of its client. What follows the runtime's name
and is not a flag below is the runtime's own command line.

A link named codex or claude to this program does the same, with the case in
` + standin.EnvCase + `: put it before the real one in PATH of what you test.

Flags:
  --case CASE     the case: its id, or a glob that names one of this runtime
  --corpus DIR    folder with scenarios and cases (default: the embedded corpus)
  --speed N       1 plays in the recorded time, 2 twice as fast (default: no pauses)
  --state DIR     folder in which the processes of one case are counted, for
                  cases that resume; play.jsonl there says what the client did
  -h, --help      this help`,
		Example: `  turnspec play codex --case text/plain app-server
  turnspec play claude --case permission/allow --input-format stream-json --output-format stream-json
  ln -s "$(command -v turnspec)" bin/codex && TURNSPEC_CASE=codex/0.169.0/text/plain PATH=$PWD/bin:$PATH my-adapter`,
		DisableFlagParsing: true,
		ValidArgsFunction: func(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
			switch {
			case len(args) == 0:
				return complete(runtimeNames)(cmd, args, word)
			case args[len(args)-1] == "--case":
				return complete(caseIDs)(cmd, args, word)
			case len(args) == 1:
				return []string{"--case"}, cobra.ShellCompDirectiveNoFileComp
			}
			return nil, cobra.ShellCompDirectiveDefault
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			own, argv, err := playArgs(args)
			switch {
			case err != nil:
				return err
			case own["--help"] != "":
				return cmd.Help()
			case len(argv) == 0:
				return fmt.Errorf("name the runtime to play: %s", strings.Join(runtimeNames(), " or "))
			case own["--case"] == "":
				return errors.New("--case says what to play; `turnspec list cases` prints all")
			}
			return play(argv, own)
		},
	}
	cmd.SetUsageTemplate("Usage:\n  {{.UseLine}}\n\nExamples:\n{{.Example}}\n")
	return cmd
}

// playArgs takes our own flags out of a command line that is the runtime's.
func playArgs(args []string) (own map[string]string, argv []string, err error) {
	own = map[string]string{}
	for i := 0; i < len(args); i++ {
		name, value, assigned := strings.Cut(args[i], "=")
		switch name {
		case "-h", "--help":
			own["--help"] = "yes"
		case "--case", "--corpus", "--speed", "--state":
			if !assigned {
				if i++; i == len(args) {
					return nil, nil, fmt.Errorf("%s wants a value", name)
				}
				value = args[i]
			}
			own[name] = value
		case "--":
			return own, append(argv, args[i+1:]...), nil
		default:
			argv = append(argv, args[i])
		}
	}
	return own, argv, nil
}

func play(argv []string, own map[string]string) error {
	corpus, err := openCorpus(own["--corpus"])
	if err != nil {
		return err
	}
	glob := own["--case"]
	if !strings.HasPrefix(glob, argv[0]+"/") {
		glob = argv[0] + "/*/" + glob
	}
	c, err := oneCase(corpus, glob)
	if err != nil {
		return err
	}
	for name, value := range map[string]string{
		standin.EnvCase: c.ID, standin.EnvCases: own["--corpus"], standin.EnvSpeed: own["--speed"], standin.EnvState: own["--state"],
	} {
		if value == "" {
			continue
		}
		if err := os.Setenv(name, value); err != nil {
			return err
		}
	}
	handled, code := standin.Main(argv[0], argv[1:])
	if !handled {
		return fmt.Errorf("no runtime %q, only %s", argv[0], strings.Join(runtimeNames(), " and "))
	}
	return exitError(code)
}
