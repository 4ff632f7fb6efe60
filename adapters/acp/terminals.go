package acp

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/internal/lenient"
	"github.com/turnspec/turnspec/adapters/proc"
)

const (
	// maxTerminals bounds the terminals that the agent has not released.
	maxTerminals = 32
	// defaultOutputLimit is how much output of a command is kept if the agent names no limit;
	// maxOutputLimit bounds what it may name.
	defaultOutputLimit = 1 << 20
	maxOutputLimit     = 16 << 20
	// pipeGrace is how long the output of a command may stay open after it has exited, by a
	// process that has left its group.
	pipeGrace = time.Second
)

// terminalRequest are the parameters of the requests about terminals.
type terminalRequest struct {
	ID      lenient.Str   `json:"terminalId"`
	Command lenient.Str   `json:"command"`
	Args    []lenient.Str `json:"args"`
	Dir     lenient.Str   `json:"cwd"`
	Env     []struct {
		Name  lenient.Str `json:"name"`
		Value lenient.Str `json:"value"`
	} `json:"env"`
	Limit *lenient.Num `json:"outputByteLimit"`
}

// terminal is a command that the client runs for the agent.
type terminal struct {
	kill    context.CancelFunc
	output  outputTail
	exit    *exitStatus      // nil while it runs
	waiters []jsontext.Value // the ids of requests to wait for its exit
}

// exitStatus is how a command has ended: one of its members is not null.
type exitStatus struct {
	Code   *int    `json:"exitCode"`
	Signal *string `json:"signal"`
}

func (c *client) serveTerminal(method string, id, params jsontext.Value) {
	r := lenient.Decode[terminalRequest](params)
	if method == "terminal/create" {
		c.createTerminal(id, r)
		return
	}
	t := c.terminals[string(r.ID)]
	if t == nil {
		c.refuseRequest(id, codeNotFound, fmt.Sprintf("there is no terminal %q", string(r.ID)))
		return
	}
	switch method {
	case "terminal/output":
		text, truncated := t.output.text(t.exit != nil)
		c.answerRequest(id, struct {
			Output    string      `json:"output"`
			Truncated bool        `json:"truncated"`
			Exit      *exitStatus `json:"exitStatus,omitzero"`
		}{text, truncated, t.exit})
	case "terminal/wait_for_exit":
		if t.exit == nil {
			t.waiters = append(t.waiters, id)
			return
		}
		c.answerRequest(id, t.exit)
	case "terminal/kill":
		t.kill()
		c.answerRequest(id, struct{}{})
	case "terminal/release":
		c.t.keepOutput(string(r.ID), t)
		t.kill()
		delete(c.terminals, string(r.ID))
		c.answerRequest(id, struct{}{})
	}
}

// variableName is the name of a variable that a command line can set.
var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// createTerminal starts a command. The Judge gets it as a command line, in which each word is
// quoted that a shell would read otherwise. Its variables come first, because one such as PATH
// decides which program runs.
func (c *client) createTerminal(id jsontext.Value, r terminalRequest) {
	argv := []string{string(r.Command)}
	for _, a := range r.Args {
		argv = append(argv, string(a))
	}
	var words []string
	env := slices.Clone(proc.Environ(c.o.Env))
	for _, v := range r.Env {
		if !variableName.MatchString(string(v.Name)) {
			c.refuseRequest(id, codeInvalidParams, fmt.Sprintf("%q is not the name of a variable", string(v.Name)))
			return
		}
		env = append(env, string(v.Name)+"="+string(v.Value))
		words = append(words, string(v.Name)+"="+quoteWord(string(v.Value)))
	}
	for _, a := range argv {
		words = append(words, quoteWord(a))
	}
	dir := cmp.Or(string(r.Dir), c.dir)
	limit := defaultOutputLimit
	if r.Limit != nil {
		limit = min(max(0, int(*r.Limit)), maxOutputLimit)
	}
	call := adapters.Call{Tool: "Bash", Dir: dir, Input: lenient.Encode(struct {
		Command string `json:"command"`
	}{strings.Join(words, " ")})}
	c.serve(id, call, func() (func(), error) {
		root, _, err := openFolder(c.folders(), dir)
		if err != nil {
			return nil, err
		}
		return func() { c.runTerminal(id, proc.Command{Argv: argv, Dir: dir, Env: env}, limit) }, root.Close()
	})
}

// runTerminal runs a command until it exits or is killed, at the latest when the session ends.
func (c *client) runTerminal(id jsontext.Value, command proc.Command, limit int) {
	if len(c.terminals) >= maxTerminals {
		c.refuseRequest(id, codeInvalidParams, fmt.Sprintf("there are %d terminals already", maxTerminals))
		return
	}
	killed, kill := context.WithCancel(context.Background())
	t := &terminal{kill: kill, output: outputTail{limit: limit}}
	c.lastTerminal++
	name := "term_" + strconv.Itoa(c.lastTerminal)
	c.terminals[name] = t // it counts from now on
	launched := make(chan error, 1)
	c.host.Go(func(ctx context.Context) func() {
		select {
		case err := <-launched:
			return func() {
				if err != nil {
					delete(c.terminals, name)
					c.refuseWork(id, err)
					return
				}
				c.answerRequest(id, struct {
					ID string `json:"terminalId"`
				}{name})
			}
		case <-ctx.Done():
			return func() {}
		}
	})
	launcher := c.launchTerminal
	c.host.Go(func(ctx context.Context) func() {
		defer kill()
		defer context.AfterFunc(ctx, kill)()
		p, err := launcher.Launch(ctx, command)
		launched <- err
		if err != nil {
			return func() {}
		}
		exit := t.output.copyUntilExit(p, killed)
		return func() {
			t.exit = statusOf(exit)
			for _, w := range t.waiters {
				c.answerRequest(w, t.exit)
			}
			t.waiters = nil
		}
	})
}

// terminalRuns reports whether a command runs.
func (c *client) terminalRuns() bool {
	for _, t := range c.terminals {
		if t.exit == nil {
			return true
		}
	}
	return false
}

// killTerminals ends all commands.
func (c *client) killTerminals() {
	for _, t := range c.terminals {
		t.kill()
	}
}

// terminalOf returns the terminal that the content of a tool call shows, or "".
func terminalOf(v jsontext.Value) string {
	for _, x := range lenient.Decode[[]struct {
		Type lenient.Str `json:"type"`
		ID   lenient.Str `json:"terminalId"`
	}](v) {
		if x.Type == "terminal" {
			return string(x.ID)
		}
	}
	return ""
}

// keepOutput gives the calls that show a terminal its output so far.
func (t *translator) keepOutput(id string, x *terminal) {
	for _, c := range t.calls {
		if c.terminal != id {
			continue
		}
		c.output, _ = x.output.text(x.exit != nil)
		if x.exit != nil && x.exit.Code != nil {
			code := *x.exit.Code
			c.exitCode = &code
		}
	}
}

func statusOf(e proc.Exit) *exitStatus {
	if e.Signal != "" {
		signal := string(e.Signal)
		return &exitStatus{Signal: &signal}
	}
	return &exitStatus{Code: &e.Code}
}

// quoteWord returns a word as a shell reads it.
func quoteWord(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-./:@%+,", r)
	}
	if s != "" && strings.TrimFunc(s, plain) == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// outputTail keeps the end of a command's output. Its methods may be called by several
// goroutines.
type outputTail struct {
	limit int // in bytes

	mu  sync.Mutex
	b   []byte
	cut bool
}

// Write implements io.Writer and never fails.
func (o *outputTail) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.b = append(o.b, p...)
	if over := len(o.b) - o.limit; over > 0 {
		o.cut = true
		o.b = append(o.b[:0], o.b[over:]...)
	}
	return len(p), nil
}

// text returns the output that is kept, at most limit bytes, cut at a character. A character
// of which only a part has arrived is left out until the output is complete.
func (o *outputTail) text(complete bool) (text string, truncated bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	b := o.b
	for i := 1; o.cut && i < utf8.UTFMax && len(b) > 0 && !utf8.RuneStart(b[0]); i++ {
		b = b[1:] // what is left of the character that the limit has cut
	}
	if !complete {
		for i := 1; i < utf8.UTFMax && i <= len(b); i++ {
			if last := b[len(b)-i:]; utf8.RuneStart(last[0]) {
				if !utf8.FullRune(last) {
					b = b[:len(b)-i]
				}
				break
			}
		}
	}
	s := strings.ToValidUTF8(string(b), "\uFFFD")
	for len(s) > o.limit { // a replacement is longer than what it replaces
		_, n := utf8.DecodeRuneInString(s)
		s, o.cut = s[n:], true
	}
	return s, o.cut
}

// copyUntilExit copies the output of a process until it has exited, and ends it and its group
// when killed is done.
func (o *outputTail) copyUntilExit(p proc.Process, killed context.Context) proc.Exit {
	_ = p.Stdin().Close() // the protocol has no input for a command
	kill := func() { _ = p.Signal(proc.SIGKILL) }
	defer context.AfterFunc(killed, kill)()
	var copying sync.WaitGroup
	for _, r := range []io.Reader{p.Stdout(), p.Stderr()} {
		copying.Go(func() { _, _ = io.Copy(o, r) }) // a pipe that breaks has no more output
	}
	exit := p.Wait()
	kill() // what it has left behind in its group
	closing := time.AfterFunc(pipeGrace, func() {
		for _, r := range []io.Reader{p.Stdout(), p.Stderr()} {
			if x, ok := r.(io.Closer); ok {
				_ = x.Close()
			}
		}
	})
	copying.Wait()
	closing.Stop()
	return exit
}
