package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/conformance/perform"
	"github.com/turnspec/turnspec/fakes/model"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/recorder"
	"github.com/turnspec/turnspec/recorder/registry"
)

// modelFlags are the flags of model.
type modelFlags struct {
	script, witness, listen, dir, home, runtime string
	hold, json                                  bool
}

func modelCmd() *cobra.Command {
	var f modelFlags
	cmd := &cobra.Command{
		Use:   "model [SCENARIO] [-- CMD [ARG…]]",
		Short: "Serve the scripted model API to a real runtime or an application",
		Long: `Model serves the replies of a scenario over the APIs of Anthropic (Messages) and OpenAI
(Responses, chat completions) on loopback, and prints what to set for each runtime. It
needs no network, no account and no key: any key is accepted.

SCENARIO is an id or a file; --script takes a file with turns of your own. The section
model is enough, with a reply on each line; ` + "`go doc ./fixtures`" + ` is its manual:

  -- client --
  send m1: Name three rivers.
  -- model --
  [{"on":"m1"},{"text":["I look."]},{"tool":"shell","id":"t1","input":{"command":"ls"}}]
  [{"text":["The Danube ","and the Nile."]}]

Replies are used in their order. One with "on" answers the request that brings this
message. Name the messages in the section client if the runtime repeats or stops turns:
then the model can distinguish a new message from a repeated request.

With CMD it runs the command with these settings, and ends when the command does. With
--runtime too, the home folder of the command is new and has the files of settings.
Without CMD it ends at ^C or SIGTERM. --witness writes what the model received and sent,
as the section witness of a case has it.

Exit codes: 0 every reply was used, 1 some were not, a request was refused because no
reply answers it, or CMD failed; 2 the model could not start.`,
		Example: `  turnspec model text/plain
  turnspec model tool/reads-a-file --runtime claude --dir . --witness witness.jsonl -- claude -p 'Read the list.'
  turnspec model --script turns.txtar -- npm test
  turnspec model --script turns.txtar --runtime codex --home ./home --listen 127.0.0.1:8790
  turnspec model text/plain --json`,
		Args: func(cmd *cobra.Command, args []string) error {
			before := len(args)
			if n := cmd.ArgsLenAtDash(); n >= 0 {
				before = n
			}
			switch {
			case before > 1:
				return fmt.Errorf("unexpected %q: a command follows after --", args[1])
			case before == 0 && f.script == "":
				return errors.New("name a scenario, or a file with turns of your own with --script; `turnspec list scenarios` prints all")
			case before == 1 && f.script != "":
				return errors.New("give a scenario or --script, not both")
			case cmd.ArgsLenAtDash() >= 0 && (len(args) == before || args[before] == ""):
				return errors.New("the command after -- is empty")
			case f.hold && len(args) > before:
				return errors.New("--hold reads the names of holds from stdin, which belongs to CMD: leave one of them out")
			case f.home != "" && (f.runtime == "" || len(args) > before):
				return errors.New("--home is where the settings of --runtime are written for a program that you start: give --runtime, and no CMD")
			}
			return nil
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveDefault
			}
			return complete(scenarioIDs)(cmd, args, word)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			var scenario string
			if n := cmd.ArgsLenAtDash(); len(args) > 0 && n != 0 {
				scenario, args = args[0], args[1:]
			}
			return serveModel(cmd, f, scenario, args)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.script, "script", "", "serve the turns of this file instead of a scenario")
	fl.StringVar(&f.witness, "witness", "", "write what the model received and sent to this file at the end, a request on each line")
	fl.StringVar(&f.listen, "listen", "127.0.0.1:0", "address to listen on; only loopback")
	fl.StringVar(&f.dir, "dir", "", "the folder in which the agent works, into which the scenario's files are written (default: the current folder, and no file is written)")
	fl.StringVar(&f.home, "home", "", "write the settings of --runtime into this home folder")
	fl.StringVar(&f.runtime, "runtime", "", "print or set what this runtime needs: "+strings.Join(modelRuntimes(), ", ")+"; with a version: codex@0.120.0 (default: all)")
	fl.BoolVar(&f.hold, "hold", false, "wait at each hold of a reply until a line of stdin names it (default: go on at once)")
	fl.BoolVar(&f.json, "json", false, "print JSON: a line with the address and the settings, and at the end a line with the outcome")
	completeFlag(cmd, "runtime", modelRuntimes)
	return cmd
}

// modelKey is the key to give to a client. The model accepts any.
const modelKey = "dummy"

func serveModel(cmd *cobra.Command, f modelFlags, scenario string, argv []string) (err error) {
	scn, err := f.load(scenario)
	if err != nil {
		return err
	}
	o := model.Options{Addr: f.listen, Dir: f.dir}
	if f.dir == "" {
		if o.Dir, err = os.Getwd(); err != nil {
			return err
		}
	} else if err := perform.WriteFiles(f.dir, scn.Workspace); err != nil {
		return err
	}
	if o.Aside, err = f.aside(scn); err != nil {
		return err
	}
	var witness *os.File
	if f.witness != "" { // report a file that cannot be written before the run
		if witness, err = os.Create(f.witness); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, witness.Close()) }()
	}
	ctx, stop := interruptible(cmd)
	defer stop()
	srv, err := model.Start(scn, o)
	if err != nil {
		return err
	}
	defer func() { _ = srv.Close() }()
	settings, err := modelSettingsOf(f.runtime, scn, srv.URL())
	if err != nil {
		return err
	}
	if f.home != "" {
		if err := perform.WriteFiles(f.home, settings.files()); err != nil {
			return err
		}
	}
	if err := f.print(cmd, scn, settings, len(argv) > 0); err != nil {
		return err
	}
	holds := holdsOf(scn)
	if f.hold {
		go releaseNamed(cmd.InOrStdin(), srv)
	} else {
		for _, name := range holds {
			srv.Release(name)
		}
	}
	finish := followModel(cmd.ErrOrStderr(), srv, holds)
	var exit proc.Exit
	if len(argv) > 0 {
		exit, err = runBeforeModel(ctx, cmd, argv, f, settings)
	} else {
		<-ctx.Done()
	}
	_ = srv.Close() // after that the witness is complete
	finish()
	if err != nil {
		return err
	}
	if witness != nil {
		b, err := fixtures.FormatWitness(srv.Witness())
		if err != nil {
			return err
		}
		if _, err := witness.Write(b); err != nil {
			return err
		}
	}
	return f.printOutcome(cmd, scn, srv, exit)
}

// load returns the scenario or the script.
func (f modelFlags) load(scenario string) (*fixtures.Scenario, error) {
	if f.script == "" {
		return loadScenario(fixtures.Embedded(), scenario)
	}
	b, err := os.ReadFile(f.script)
	if err != nil {
		return nil, err
	}
	return fixtures.ParseScript(f.script, b)
}

// aside returns model.Options.Aside: a runtime may ask for a title in another form than text,
// but an application that does so wants a reply of its script.
func (f modelFlags) aside(scn *fixtures.Scenario) (string, error) {
	name, _, _ := strings.Cut(f.runtime, "@")
	if name == "" || scn.Schema != nil {
		return "", nil
	}
	r, err := registry.Get(name)
	if err != nil {
		return "", err
	}
	return cmp.Or(r.Aside, recorder.Title), nil
}

// holdsOf returns the names of the holds in a scenario's replies.
func holdsOf(scn *fixtures.Scenario) (out []string) {
	for _, agent := range slices.Sorted(maps.Keys(scn.Model)) {
		for _, r := range scn.Model[agent] {
			for _, p := range r.Parts {
				if p.Hold != "" {
					out = append(out, p.Hold)
				}
			}
		}
	}
	return out
}

// runBeforeModel runs a command that finds the model by its settings, and returns how it ended.
// It ends the command, and what that has started, when ctx does.
func runBeforeModel(ctx context.Context, cmd *cobra.Command, argv []string, f modelFlags, s modelSettings) (proc.Exit, error) {
	env := append(os.Environ(), s.environment(f.runtime)...)
	if f.runtime != "" {
		home, err := os.MkdirTemp("", "turnspec-home-")
		if err != nil {
			return proc.Exit{}, err
		}
		defer func() { _ = os.RemoveAll(home) }()
		if err := perform.WriteFiles(home, s.files()); err != nil {
			return proc.Exit{}, err
		}
		env = append(env, "HOME="+home, "USERPROFILE="+home)
	}
	p, err := proc.Exec{EndWithProgram: true}.Launch(ctx, proc.Command{Argv: argv, Env: env})
	if err != nil {
		return proc.Exit{}, err
	}
	defer context.AfterFunc(ctx, func() { proc.End(p, proc.Grace{Term: interruptLimit / 4}) })()
	go func() {
		if in := cmd.InOrStdin(); !isTerminal(in) { // many programs read stdin to its end if it is a pipe
			_, _ = io.Copy(p.Stdin(), in)
		}
		_ = p.Stdin().Close()
	}()
	var output sync.WaitGroup
	output.Go(func() { _, _ = io.Copy(cmd.OutOrStdout(), p.Stdout()) })
	output.Go(func() { _, _ = io.Copy(cmd.ErrOrStderr(), p.Stderr()) })
	p.Wait()
	exit := proc.End(p, proc.Grace{}) // ends what the command has left
	output.Wait()
	return exit, ctx.Err()
}
