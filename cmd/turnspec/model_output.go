package main

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/spf13/cobra"

	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/fakes/model"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/recorder/registry"
)

// modelSettings are what clients need to reach the model.
type modelSettings struct {
	url      string
	runtimes []runtimeSettings
}

// runtimeSettings are what a runtime needs to reach the model.
type runtimeSettings struct {
	Runtime string            `json:"runtime"`
	Env     []string          `json:"env,omitempty"`
	Options []string          `json:"options,omitempty"` // of its command line
	Files   map[string]string `json:"files,omitempty"`   // by their paths below the home folder
}

// modelRuntimes returns the runtimes whose settings are printed if none is named: programs that
// differ in them.
func modelRuntimes() (out []string) {
	for _, r := range registry.All() {
		if r.Launcher == nil {
			out = append(out, r.Wire.Name)
		}
	}
	return out
}

// settingsOfRuntime returns what a runtime needs for a scenario.
func settingsOfRuntime(name, version string, scn *fixtures.Scenario, url string) (runtimeSettings, error) {
	r, err := registry.Get(name)
	if err != nil {
		return runtimeSettings{}, err
	}
	conn, err := registry.Connect(name, version, scn.InitialMode(), scn.Needs, url)
	if err != nil {
		return runtimeSettings{}, err
	}
	s := runtimeSettings{Runtime: name, Env: conn.Env, Options: conn.Args, Files: conn.Home}
	if r.SettingsOf != nil { // a file holds for each program that starts the runtime
		s.Options, s.Files = nil, r.SettingsOf(conn.Args)
	}
	return s, nil
}

// modelSettingsOf returns the settings of a runtime, RUNTIME or RUNTIME@VERSION, or of all that
// can perform the scenario if runtime is "".
func modelSettingsOf(runtime string, scn *fixtures.Scenario, url string) (modelSettings, error) {
	out := modelSettings{url: url}
	if runtime != "" {
		name, version, _ := strings.Cut(runtime, "@")
		s, err := settingsOfRuntime(name, version, scn, url)
		out.runtimes = append(out.runtimes, s)
		return out, err
	}
	for _, name := range modelRuntimes() {
		s, err := settingsOfRuntime(name, "", scn, url)
		same := func(other runtimeSettings) bool {
			return slices.Equal(s.Env, other.Env) && slices.Equal(s.Options, other.Options) && maps.Equal(s.Files, other.Files)
		}
		if err == nil && !slices.ContainsFunc(out.runtimes, same) {
			out.runtimes = append(out.runtimes, s)
		}
	}
	return out, nil
}

// clients returns the variables that libraries of the APIs read.
func (s modelSettings) clients() []string {
	return []string{
		"OPENAI_BASE_URL=" + s.url + "/v1", "OPENAI_API_KEY=" + modelKey,
		"ANTHROPIC_BASE_URL=" + s.url, "ANTHROPIC_API_KEY=" + modelKey,
	}
}

// environment returns the variables of a command. A proxy cannot reach loopback.
func (s modelSettings) environment(runtime string) []string {
	out := append(s.clients(), "NO_PROXY=127.0.0.1,localhost", "no_proxy=127.0.0.1,localhost")
	if runtime != "" {
		out = append(out, s.runtimes[0].Env...)
	}
	return out
}

// files returns the settings of the one runtime, by their paths below the home folder.
func (s modelSettings) files() map[string][]byte {
	out := map[string][]byte{}
	for name, text := range s.runtimes[0].Files {
		out[name] = []byte(text)
	}
	return out
}

// print prints the address, the settings and the steps of the client. If a command follows, all
// of it is set already.
func (f modelFlags) print(cmd *cobra.Command, scn *fixtures.Scenario, s modelSettings, follows bool) error {
	var steps []string
	for _, step := range scn.Client {
		steps = append(steps, step.Source)
	}
	if f.json {
		return printLine(cmd.OutOrStdout(), struct {
			URL      string            `json:"url"`
			Key      string            `json:"key"`
			Script   string            `json:"script"`
			Client   []string          `json:"client"`
			Runtimes []runtimeSettings `json:"runtimes"`
		}{s.url, modelKey, scn.File, steps, s.runtimes})
	}
	if follows {
		return nil
	}
	out := cmd.OutOrStdout()
	fmt.Fprintf(out, "The model listens on %s and plays %s. Any key is accepted, such as %s.\n", s.url, scn.File, modelKey)
	if len(steps) > 0 {
		fmt.Fprintf(out, "\nThe client of the scenario:\n  %s\n", strings.Join(steps, "\n  "))
	}
	fmt.Fprintf(out, "\nLibraries and applications:\n  %s\n", strings.Join(s.clients(), "\n  "))
	for _, r := range s.runtimes {
		fmt.Fprintf(out, "\n%s:\n", r.Runtime)
		for _, v := range r.Env {
			name, value, _ := strings.Cut(v, "=")
			fmt.Fprintf(out, "  %s=%s\n", name, quoted(value))
		}
		if len(r.Options) > 0 {
			fmt.Fprintf(out, "  options: %s\n", strings.Join(quotedAll(r.Options), " "))
		}
		for _, name := range slices.Sorted(maps.Keys(r.Files)) {
			if f.runtime == "" {
				fmt.Fprintf(out, "  ~/%s: --runtime %s prints it, --home DIR writes it\n", name, r.Runtime)
				continue
			}
			fmt.Fprintf(out, "  ~/%s:\n    %s\n", name, strings.ReplaceAll(strings.TrimSpace(r.Files[name]), "\n", "\n    "))
		}
	}
	_, err := fmt.Fprintln(out)
	return err
}

// printLine prints a value as a line of JSON.
func printLine(out io.Writer, v any) error {
	b, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s\n", b)
	return err
}

// releaseNamed releases the holds that lines of stdin name.
func releaseNamed(in io.Reader, srv *model.Server) {
	for lines := bufio.NewScanner(in); lines.Scan(); {
		srv.Release(strings.TrimSpace(lines.Text()))
	}
}

// followModel prints each request and reply until the function that it returns is called, which
// prints the rest.
func followModel(out io.Writer, srv *model.Server, holds []string) (finish func()) {
	f := &modelFollower{out: out, srv: srv, holds: holds, waiting: map[string]bool{}}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			changed := srv.Changed()
			f.report()
			select {
			case <-changed:
			case <-stop:
				f.report()
				return
			}
		}
	}()
	return func() { close(stop); <-stopped }
}

type modelFollower struct {
	out     io.Writer
	srv     *model.Server
	holds   []string // names
	waiting map[string]bool
	begun   int // requests that were printed
	ended   []bool
	refused bool
}

func (f *modelFollower) report() {
	witness := f.srv.Witness()
	for i, q := range witness {
		if i == f.begun {
			f.begun++
			f.ended = append(f.ended, false)
			fmt.Fprintf(f.out, "request %d%s: %s\n", q.Req, ofAgent(q.Agent), cmp.Or(strings.Join(q.New, ", "), "nothing new"))
		}
		if q.Ended != "" && !f.ended[i] {
			f.ended[i] = true
			fmt.Fprintf(f.out, "reply %d: %s\n", q.Req, replyOf(q))
		}
	}
	for _, name := range f.holds {
		_, _, holding := f.srv.Holding(name)
		if holding && !f.waiting[name] {
			fmt.Fprintf(f.out, "a reply waits at the hold %s\n", name)
		}
		f.waiting[name] = holding
	}
	if err := f.srv.Err(); err != nil && !f.refused {
		f.refused = true
		fmt.Fprintln(f.out, "refused:", err)
	}
}

func ofAgent(name string) string {
	if name == "" {
		return ""
	}
	return " of " + name
}

// replyOf describes a reply in a line.
func replyOf(q fixtures.Request) string {
	words := []string{string(q.Ended)}
	if q.Status != 0 {
		words = append(words, fmt.Sprintf("status %d", q.Status))
	}
	for _, p := range q.Output {
		switch {
		case p.Tool != "":
			words = append(words, "tool "+p.Tool)
		case p.Think != "":
			words = append(words, fmt.Sprintf("reasoning %q", clip(p.Think, 60)))
		case p.Text != "":
			words = append(words, fmt.Sprintf("text %q", clip(p.Text, 60)))
		}
	}
	return strings.Join(words, ", ")
}

// printOutcome prints what was not used or refused, and returns errFailed if there is anything.
func (f modelFlags) printOutcome(cmd *cobra.Command, scn *fixtures.Scenario, srv *model.Server, exit proc.Exit) error {
	var outcome struct {
		Requests int      `json:"requests"`
		Unused   []string `json:"unused,omitempty"` // positions of replies
		Refused  string   `json:"refused,omitempty"`
		Command  string   `json:"command,omitempty"` // how it failed
	}
	outcome.Requests = len(srv.Witness())
	for _, line := range srv.Unused() {
		outcome.Unused = append(outcome.Unused, fmt.Sprintf("%s:%d", scn.File, line))
	}
	err := srv.Err()
	if err != nil {
		outcome.Refused = err.Error()
	}
	if exit != (proc.Exit{}) {
		outcome.Command = exit.String()
	}
	if f.json {
		if err := printLine(cmd.OutOrStdout(), outcome); err != nil {
			return err
		}
	} else {
		errOut := cmd.ErrOrStderr()
		for _, at := range outcome.Unused {
			fmt.Fprintf(errOut, "%s: no request used this reply\n", at)
		}
		if outcome.Command != "" {
			fmt.Fprintf(errOut, "the command failed: %s\n", outcome.Command)
		}
	}
	if len(outcome.Unused) > 0 || outcome.Refused != "" || outcome.Command != "" {
		return errFailed
	}
	return nil
}
