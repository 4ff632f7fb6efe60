package standin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/fakes/pipe"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/refusal"
	"github.com/turnspec/turnspec/fixtures/wire"
)

// launch is one process that a subject has started. It implements proc.Process and
// wire.Client.
type launch struct {
	p            *Play
	n            int // which process of the case; 0 for none of them
	argv         []string
	env          []string
	dir, home    string
	hello        wire.Step             // its handshake
	asksUsage    bool                  // its last message asks for the tokens of the reply
	ready        bool                  // the handshake has come
	otherThreads []string              // that it was given from the lifecycle
	mode         string                // the permission mode that is set
	asked        map[string]*wire.Line // the requests of the runtime, by id as the client got it
	answered     map[string]bool
	judge        *refusal.Judge // of its lines
	requests     []request      // the same, in order
	turns        int            // that run
	offers       []string       // what its runtime may use of the client
	pastCut      bool           // a step has come that a fault has cut off
	chosen       wire.Settings
	files        [][]byte // of settings, that its command line names
	attachments  [][]byte // for the model, that its command line names

	stdout, stderr *outlet
	input          []byte // the beginning of a line of stdin
	shut           bool   // the client closed stdin
	shutPlayed     bool   // and the play has come to it
	stdinClosed    bool   // the process closed its stdin
	ended          bool
	exit           proc.Exit
	done           chan struct{}
}

func (p *Play) launch(ctx context.Context, c proc.Command) (proc.Process, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if len(c.Argv) == 0 {
		return nil, errors.New("launch: empty command")
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, errors.New("launch: the play is over")
	}
	l := &launch{
		p: p, argv: c.Argv, env: c.Env, dir: c.Dir, asked: map[string]*wire.Line{}, answered: map[string]bool{}, done: make(chan struct{}),
	}
	l.stdout, l.stderr = &outlet{l: l, Pipe: pipe.New()}, &outlet{l: l, Pipe: pipe.New()}
	if l.env == nil {
		l.env = os.Environ()
	}
	if l.dir == "" {
		l.dir, _ = os.Getwd() // without one the placeholder stays
	}
	if l.home = l.Getenv("HOME"); l.home == "" {
		l.home = "/home/user"
	}
	if text := p.s.rt.VersionLine(p.s.version); text != "" && slices.Contains(c.Argv[1:], "--version") {
		return l.printAndExit(text+"\n", "", 0), nil
	}
	n := len(p.launches)
	if n >= len(p.s.processes) {
		p.unrecordedf("launch: the case has %d processes, this is one more: %q", n-1, c.Argv)
		return l.printAndExit("", "the recording holds no further process\n", 1), nil
	}
	asks := p.s.rt.Launched(p.s.version, l.argv, l.env)
	if text := p.refuseLaunch(l, &asks, &p.s.processes[n]); text != "" {
		return l.printAndExit("", text+"\n", 1), nil
	}
	if v := p.o.Requests.Launch(c.Argv, p.s.processes[n].argv, l.hasForm(&p.s.processes[n])); v != nil {
		p.violationf("process %d: %s", n, v)
		return l.printAndExit("", v.Message+"\n", v.Code), nil
	}
	l.judge = p.o.Requests.Judge(p.c.Scenario, p.requestsTo(n))
	l.n, l.mode, l.offers = n, asks.Settings.Ask, asks.Offers
	l.files, l.attachments = contentsOf(asks.SettingFiles), contentsOf(asks.Attachments)
	l.chosen = overlay(wire.Settings{Dir: l.dir}, asks.Settings)
	if d := l.chosen.Dir; d == "<work>" {
		l.chosen.Dir = l.dir // the recording's own arguments
	} else if d != l.dir && !filepath.IsAbs(d) {
		l.chosen.Dir = filepath.Join(l.dir, d)
	}
	l.dir = l.chosen.Dir
	p.launches = append(p.launches, l)
	if n == max(1, p.o.First) && !p.o.Manual {
		p.work.Go(p.playAll)
	}
	p.change.Broadcast()
	return l, nil
}

// requestsTo returns the lines that the recording's client wrote to a process.
func (p *Play) requestsTo(n int) []refusal.Request {
	var out []refusal.Request
	turns := 0
	for i := range p.s.lines {
		rec := &p.s.lines[i]
		if rec.w.Process != n {
			continue
		}
		for _, x := range rec.parts {
			if rec.w.Dir != fixtures.Out || x.line == nil {
				continue
			}
			turns = min(1, max(0, turns+turnChange(x.line)))
		}
		if rec.w.Dir == fixtures.In {
			out = append(out, refusal.Request{Line: rec.step.Line, Bytes: rec.w.Bytes, InTurn: turns > 0, Given: p.s.gave})
		}
	}
	return out
}

// hasForm returns a function that reports whether a text names a file or a folder. In virtual time
// the folder of the process does not exist, and a client may write the paths of the recording.
func (l *launch) hasForm(recorded *process) func(text string, form refusal.Form) bool {
	return func(text string, form refusal.Form) bool {
		return text == l.dir || slices.Contains(recorded.argv, text) || refusal.FormOf(text) == form
	}
}

// refuseLaunch returns what the runtime prints if a launch plays no process, or "".
func (p *Play) refuseLaunch(l *launch, asks *wire.Launch, recorded *process) string {
	rt, rec := p.s.rt, &recorded.launch
	switch {
	case rec.Command != "" && asks.Command != rec.Command:
		p.unrecordedf("launch: the recording is of `%s %s`, not of %q", rt.ProgramName(), rec.Command, l.argv)
		return fmt.Sprintf("error: the recording is of %s %s", rt.ProgramName(), rec.Command)
	case asks.Refused != "":
		return asks.Refused
	}
	if p.o.Fault == nil && asks.Opens != "" {
		p.noteOpening(len(p.launches), p.translate(rec.Opens, nil), asks.Opens, nil)
	}
	switch {
	case rec.Resumes && asks.Last:
	case rec.Resumes && !asks.Resumes:
		p.unrecordedf("launch: the recording resumes session %s here, this launch does not: %q", rec.Resume, l.argv)
		return "the recording resumes a session here"
	case rec.Resumes && p.isFirstOfLater(len(p.launches)):
		p.bind(rec.Resume, asks.Resume)
	case asks.Resumes && (!rec.Resumes || asks.Resume != p.playedID(rec.Resume)):
		p.unrecordedf("launch: no session %s was given by this play", asks.Resume)
		return asks.NoSession
	}
	if rec.At != "" && asks.At != p.playedID(rec.At) {
		p.unrecordedf("launch: the recording goes on after %s, this launch after %q", p.playedID(rec.At), asks.At)
		return asks.NoMessage
	}
	if asks.ID != "" && (!rec.Resumes || asks.Fork) {
		id := rec.ID
		if id == "" {
			id = recorded.session
		}
		p.bind(id, asks.ID)
	}
	return ""
}

// printAndExit makes a process that has written all its output and has ended.
func (l *launch) printAndExit(out, err string, code int) *launch {
	l.p.extra = append(l.p.extra, l)
	_, _ = l.stdout.TryWrite([]byte(out)) // a new pipe has room
	_, _ = l.stderr.TryWrite([]byte(err))
	l.endProcess(proc.Exit{Code: code})
	return l
}

// wants reports whether the client asked for a line.
func (l *launch) wants(x *wire.Line) bool {
	f := l.p.s.rt.Options.Wants
	return f == nil || f(x, l)
}

// Flag implements wire.Client.
func (l *launch) Flag(name string) bool {
	return slices.ContainsFunc(l.argv, func(a string) bool { return a == name || strings.HasPrefix(a, name+"=") })
}

// Getenv implements wire.Client.
func (l *launch) Getenv(name string) string { return wire.Getenv(l.env, name) }

// Handshake implements wire.Client.
func (l *launch) Handshake() wire.Step { return l.hello }

// AsksUsage implements wire.Client.
func (l *launch) AsksUsage() bool { return l.asksUsage }

// Chose implements wire.Client.
func (l *launch) Chose(message string) bool { return l.p.named[message] }

// Background implements wire.Client.
func (l *launch) Background(call string) bool { return l.p.s.background[call] }

// Hook implements wire.Client.
func (l *launch) Hook(recorded string) string {
	for event, ids := range l.p.s.processes[l.n].hooks {
		if own := l.hello.Hooks[event]; slices.Contains(ids, recorded) && slices.Index(ids, recorded) < len(own) {
			return own[slices.Index(ids, recorded)]
		}
	}
	return ""
}

// endProcess ends the process. It may be called again.
func (l *launch) endProcess(e proc.Exit) {
	if l.ended {
		return
	}
	l.ended, l.exit, l.stdout.pending, l.stderr.pending = true, e, nil, nil
	l.stdout.CloseWrite()
	l.stderr.CloseWrite()
	close(l.done)
	l.p.change.Broadcast()
}

// Stdin implements proc.Process.
func (l *launch) Stdin() io.WriteCloser { return stdin{l} }

// Stdout implements proc.Process.
func (l *launch) Stdout() io.Reader { return l.stdout }

// Stderr implements proc.Process.
func (l *launch) Stderr() io.Reader { return l.stderr }

// Wait implements proc.Process.
func (l *launch) Wait() proc.Exit {
	<-l.done
	return l.exit
}

// Signal implements proc.Process.
func (l *launch) Signal(s proc.Signal) error {
	if s != proc.SIGINT && s != proc.SIGTERM && s != proc.SIGHUP && s != proc.SIGKILL {
		return fmt.Errorf("unknown signal %s", s)
	}
	l.p.mu.Lock()
	defer l.p.mu.Unlock()
	if l.ended {
		return nil
	}
	l.p.actions = append(l.p.actions, &ClientAction{Process: l.n, At: time.Now(), Kind: KindSignal, Method: string(s)})
	if s == proc.SIGTERM && l.p.o.IgnoresSIGTERM {
		return nil
	}
	e := proc.Exit{Code: -1, Signal: s}
	if code, ok := l.p.s.rt.Process.ExitCodes[string(s)]; ok {
		e = proc.Exit{Code: code}
	}
	l.endProcess(e)
	return nil
}
