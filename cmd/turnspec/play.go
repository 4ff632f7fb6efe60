package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/turnspec/turnspec/fakes/standin"
)

// standIn replays a case if this program was started under the name of a runtime,
// for example through a link.
func standIn(args []string) (code int, handled bool) {
	handled, code = standin.Main(args[0], args[1:])
	return code, handled
}

func playCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "play RUNTIME --case CASE [ARG…]",
		Short: "Act as a runtime on stdio: replay a case to any client",
		Long: `Play is a stand-in: it behaves as the real runtime did when the case was recorded,
and waits for each step of its client. Arguments after the runtime's name, other
than the flags below, are the runtime's own command line.

A runtime that is an HTTP server (opencode) reads its requests, and writes replies, as
lines of JSON, a form that tests can record and break. With --http it serves HTTP.

A link to this program that is named like a runtime does the same, with the case in
` + standin.EnvCase + `: put it before the real one in the PATH of the program under test.

Flags:
  --case CASE     the case: its id, a glob that matches one case, or a file
  --corpus DIR    folder with scenarios and cases (default: the embedded corpus)
  --speed N       1 keeps the recorded pauses, 2 halves them (default: no pauses)
  --http          serve HTTP, on the port of the runtime's command line or any
  --state DIR     folder that counts the processes of a case, for cases that
                  resume; play.jsonl there records what the client did
  -h, --help      this help`,
		Example: `  turnspec play codex --case text/plain app-server
  turnspec play claude --case permission/allow --input-format stream-json --output-format stream-json --verbose
  turnspec play opencode --case text/plain --http serve --port 4096
  ln -s "$(command -v turnspec)" bin/codex && TURNSPEC_CASE=codex/newest/text/plain PATH=$PWD/bin:$PATH my-adapter`,
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
				return fmt.Errorf("name the runtime: %s", strings.Join(runtimeNames(), ", "))
			case own["--case"] == "":
				return errors.New("--case is missing: name the case to replay; `turnspec list cases` prints all")
			}
			return playCase(argv, own)
		},
	}
	cmd.SetUsageFunc(func(cmd *cobra.Command) error {
		cmd.Printf("Usage:\n  %s\n\nExamples:\n%s\n", cmd.UseLine(), cmd.Example)
		return nil
	})
	return cmd
}

// playArgs separates the flags of play from the runtime's command line.
func playArgs(args []string) (own map[string]string, argv []string, err error) {
	own = map[string]string{}
	for i := 0; i < len(args); i++ {
		name, value, assigned := strings.Cut(args[i], "=")
		switch name {
		case "-h", "--help":
			own["--help"] = "yes"
		case "--http":
			own["--http"] = "yes"
		case "--case", "--corpus", "--speed", "--state":
			if !assigned {
				if i++; i == len(args) {
					return nil, nil, fmt.Errorf("%s needs a value", name)
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

func playCase(argv []string, own map[string]string) error {
	corpus, err := openCorpus(own["--corpus"])
	if err != nil {
		return err
	}
	glob := own["--case"]
	if isCaseFile(glob) {
		f, err := openCaseFile(corpus, glob)
		if err != nil {
			return err
		}
		defer f.remove()
		corpus, glob, own["--corpus"] = f.Corpus, f.id, f.dir
	}
	if !strings.HasPrefix(glob, argv[0]+"/") {
		glob = argv[0] + "/*/" + glob
	}
	c, err := oneCase(corpus, glob)
	if err != nil {
		return err
	}
	for name, value := range map[string]string{
		standin.EnvCase: c.ID, standin.EnvCases: own["--corpus"], standin.EnvSpeed: own["--speed"], standin.EnvState: own["--state"],
		standin.EnvHTTP: own["--http"],
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
		return fmt.Errorf("unknown runtime %q; want one of %s", argv[0], strings.Join(runtimeNames(), " and "))
	}
	return exitError(code)
}
