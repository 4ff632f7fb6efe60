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

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/fakes/pipe"
	"github.com/turnspec/turnspec/fixtures"
)

// asking is how the runtime asked, and about which tool call.
type asking struct{ method, tool string }

// launch is one process that a subject has started.
type launch struct {
	p          *Play
	n          int // which process of the case; 0 for none of them
	argv       []string
	env        []string
	dir, home  string
	caps       capabilities
	hooks      hooks
	beside     []string // threads that it was given from the lifecycle
	mode       string   // claude: the permission mode that is set
	ready      bool     // codex: initialize has come
	background map[string]bool
	asked      map[string]asking         // by what method it asked, and about what, likewise
	asks       map[string]jsontext.Value // what it asked, by id as the client got it
	answered   map[string]bool
	requests   []request // of its own, in order
	turns      int       // that run
	beyond     bool      // an act has come that a fault has cut off
	chosen     settings  // by what it wrote so far
	files      [][]byte  // of settings, that its command line names

	stdout, stderr *outlet
	input          []byte // the beginning of a line of stdin
	shut           bool   // stdin is closed
	shutPlayed     bool   // and the play has come to it
	deaf           bool   // it has closed its stdin
	over           bool
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
		p: p, argv: c.Argv, env: c.Env, dir: c.Dir, background: p.s.background,
		asked: map[string]asking{}, asks: map[string]jsontext.Value{}, answered: map[string]bool{},
		mode: p.s.dialect.mode(c.Argv), done: make(chan struct{}),
	}
	l.stdout, l.stderr = &outlet{l: l, Pipe: pipe.New()}, &outlet{l: l, Pipe: pipe.New()}
	if l.env == nil {
		l.env = os.Environ()
	}
	if l.dir == "" {
		l.dir, _ = os.Getwd() // without one the placeholder stays
	}
	if l.home = l.getenv("HOME"); l.home == "" {
		l.home = "/home/user"
	}
	if slices.Contains(c.Argv[1:], "--version") {
		return l.once(p.s.dialect.version(p.s.version)+"\n", "", 0), nil
	}
	n := len(p.launches)
	if n >= len(p.s.processes) {
		p.unrecordedf("launch: the case has %d processes, this is one more: %q", n-1, c.Argv)
		return l.once("", "the recording holds no further process\n", 1), nil
	}
	if text := p.refused(l, &p.s.processes[n]); text != "" {
		return l.once("", text+"\n", 1), nil
	}
	l.n, l.chosen, l.files = n, settings{dir: l.dir}.over(p.s.dialect.started(l.argv, l.env)), settingFiles(l.argv)
	if d := l.chosen.dir; d == "<work>" {
		l.chosen.dir = l.dir // the recording's own arguments
	} else if d != l.dir && !filepath.IsAbs(d) {
		l.chosen.dir = filepath.Join(l.dir, d)
	}
	l.dir = l.chosen.dir
	p.launches = append(p.launches, l)
	if n == max(1, p.o.First) && !p.o.Manual {
		p.work.Go(p.run)
	}
	p.change.Broadcast()
	return l, nil
}

// laterOptions are options of claude that older versions refuse: a process of
// theirs ends at once.
var laterOptions = []struct{ name, since string }{{"--forward-subagent-text", "2.1.329"}}

// refused says in the runtime's words why a launch plays no process, or "".
func (p *Play) refused(l *launch, rec *process) string {
	if _, codex := p.s.dialect.(codexDialect); codex {
		if slices.Contains(rec.spawn, "app-server") && !slices.Contains(l.argv, "app-server") {
			p.unrecordedf("launch: the recording is of `codex app-server`, not of %q", l.argv)
			return "error: the recording is of codex app-server"
		}
		return ""
	}
	if d, exec := p.s.dialect.(codexExecDialect); exec {
		return p.refusedExec(d, l, rec)
	}
	for _, o := range laterOptions {
		if l.flag(o.name) && fixtures.CompareVersions(p.s.version, o.since) < 0 {
			return "error: unknown option '" + o.name + "'"
		}
	}
	if p.o.Fault == nil {
		p.opened(len(p.launches), p.translate(opening(rec.spawn), nil), opening(l.argv), nil)
	}
	want, resumed := value(rec.spawn, "--resume", "-r")
	got, resumes := value(l.argv, "--resume", "-r")
	switch {
	case resumed && !resumes:
		p.unrecordedf("launch: the recording resumes session %s here, this launch does not: %q", want, l.argv)
		return "the recording resumes a session here"
	case resumed && p.o.First > 1 && len(p.launches) == p.o.First:
		p.bind(want, got)
	case resumes && (!resumed || got != p.tr(want)):
		p.unrecordedf("launch: no session %s was given by this play", got)
		return "No conversation found with session ID: " + got
	}
	if at, _ := value(rec.spawn, "--resume-session-at"); at != "" {
		if got, _ := value(l.argv, "--resume-session-at"); got != p.tr(at) {
			p.unrecordedf("launch: the recording goes on after %s, this launch after %q", p.tr(at), got)
			return "No message found with message.uuid of: " + got
		}
	}
	if id, ok := value(l.argv, "--session-id"); ok && (!resumed || l.flag("--fork-session")) {
		rid, had := value(rec.spawn, "--session-id")
		if !had {
			rid = rec.session
		}
		p.bind(rid, id)
	}
	return ""
}

// refusedExec is refused for `codex exec`.
func (p *Play) refusedExec(d codexExecDialect, l *launch, rec *process) string {
	if !slices.Contains(l.argv, "exec") && !slices.Contains(l.argv, "e") {
		p.unrecordedf("launch: the recording is of `codex exec`, not of %q", l.argv)
		return "error: the recording is of codex exec"
	}
	_, want := d.message(rec.spawn)
	_, got := d.message(l.argv)
	switch {
	case want != "" && got == "" && slices.Contains(l.argv, "--last"):
	case want != "" && got != "" && p.o.First > 1 && len(p.launches) == p.o.First:
		p.bind(want, got)
	case got != p.tr(want):
		p.unrecordedf("launch: the recording goes on with thread %q here, this launch with %q", p.tr(want), got)
		return "Error: no rollout found for thread id " + got
	}
	return ""
}

// once makes a process that has said all that it will say and has ended.
func (l *launch) once(out, err string, code int) *launch {
	l.p.extra = append(l.p.extra, l)
	_, _ = l.stdout.TryWrite([]byte(out)) // a new pipe has room
	_, _ = l.stderr.TryWrite([]byte(err))
	l.end(proc.Exit{Code: code})
	return l
}

// flag reports whether the client gave an option, alone or with a value.
func (l *launch) flag(name string) bool {
	return slices.ContainsFunc(l.argv, func(a string) bool { return a == name || strings.HasPrefix(a, name+"=") })
}

func value(argv []string, names ...string) (string, bool) {
	for i, a := range argv {
		for _, name := range names {
			if v, ok := strings.CutPrefix(a, name+"="); ok {
				return v, true
			}
			if a == name && i+1 < len(argv) {
				return argv[i+1], true
			}
		}
	}
	return "", false
}

func (l *launch) getenv(name string) string { return getenv(l.env, name) }

func getenv(env []string, name string) string {
	v := ""
	for _, e := range env {
		if s, ok := strings.CutPrefix(e, name+"="); ok {
			v = s // the last one counts
		}
	}
	return v
}

// named reports whether the client chose an id for a recorded message.
func (l *launch) named(id string) bool { return l.p.named[id] }

// end ends the process. It may be called again.
func (l *launch) end(e proc.Exit) {
	if l.over {
		return
	}
	l.over, l.exit, l.stdout.pending, l.stderr.pending = true, e, nil, nil
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
	if l.over {
		return nil
	}
	l.p.wrote = append(l.p.wrote, &ClientAction{Process: l.n, At: time.Now(), Kind: KindSignal, Method: string(s)})
	if s == proc.SIGTERM && l.p.o.IgnoresSIGTERM {
		return nil
	}
	e := proc.Exit{Code: -1, Signal: s}
	if code, bySignal := l.p.s.dialect.onSignal(string(s)); !bySignal {
		e = proc.Exit{Code: code}
	}
	l.end(e)
	return nil
}
