package jsonl

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/feed"
)

// The limits, in real time: generous, since a program in some languages takes
// seconds to start, and half a minute on a machine that is busy.
const (
	helloLimit = time.Minute
	replyLimit = 20 * time.Second
	endLimit   = 10 * time.Second
)

// stderrKept is how much of a program's stderr stands in a mistake.
const stderrKept = 4 << 10

// session is a program that was started. It holds one session.
type session struct {
	s     *Subject
	p     proc.Process
	tail  *proc.Tail
	hello Hello
	heard chan struct{} // closed after hello, or when there will be none
	over  chan struct{} // closed when stdout is at its end and the program has ended

	*feed.Feed

	sessionID string
	write     sync.Mutex // guards stdin

	mu      sync.Mutex
	seq     int64 // of the last event, where the program does not count
	fills   map[string]bool
	lines   int
	asked   int
	waiting map[int]*waiter
	closing bool // close was answered, or session_end told
	busy    bool // a turn runs, as the program told
}

// waiter is a command that has no reply yet.
type waiter struct {
	c    *command
	done chan error
}

// start starts the program and hears its hello.
func (s *Subject) start(ctx context.Context, o conformance.Open) (*session, error) {
	launch := o.Launch
	if launch == nil {
		launch = proc.Exec{}
	}
	argv, err := resolve(s.Command, s.Dir)
	if err != nil {
		return nil, notStarted(s.Command, err)
	}
	p, err := launch.Launch(ctx, proc.Command{Argv: argv, Dir: s.Dir, Env: o.Env})
	if err != nil {
		return nil, notStarted(s.Command, err)
	}
	x := &session{
		s: s, p: p, tail: proc.NewTail(stderrKept), heard: make(chan struct{}), over: make(chan struct{}),
		Feed: feed.New(), fills: map[string]bool{}, waiting: map[int]*waiter{},
	}
	go x.read()
	t := time.NewTimer(helloLimit)
	defer t.Stop()
	select {
	case <-x.heard:
	case <-t.C:
		x.fail(noHello(helloLimit))
	case <-ctx.Done():
		x.abandon()
		return nil, ctx.Err()
	}
	if err := x.ProtocolError(); err != nil {
		x.abandon()
		return nil, err
	}
	return x, nil
}

// fail notes the first mistake and ends the program: what it says after it means
// nothing.
func (x *session) fail(m *PlugError) {
	m.Stderr = x.tail.String()
	if x.Blame(m) {
		_ = x.p.Signal(proc.SIGKILL)
	}
}

// read takes the program's lines until it ends.
func (x *session) read() {
	var errs sync.WaitGroup
	errs.Go(func() { _, _ = io.Copy(x.tail, x.p.Stderr()) })
	lines := proc.NewLines(x.p.Stdout(), 0)
	for {
		b, err := lines.Next()
		if errors.Is(err, proc.ErrLongLine) {
			x.fail(badLine(x.lines+1, b, err))
		}
		if err != nil {
			break
		}
		x.lines++
		if x.s.Watch != nil {
			x.s.Watch(Line{Text: string(b)})
		}
		if m := x.take(b); m != nil {
			x.fail(m)
			break
		}
	}
	// A program that closed its stdout alone has nothing more to say.
	exit := proc.End(x.p, proc.Grace{Stdin: endLimit, Term: time.Second})
	if f, ok := x.p.Stdout().(io.Closer); ok {
		_ = f.Close()
	}
	finish := time.AfterFunc(time.Second, func() { // somebody else may hold its stderr
		if f, ok := x.p.Stderr().(io.Closer); ok {
			_ = f.Close()
		}
	})
	errs.Wait()
	finish.Stop()
	x.end(exit)
}

// end lets go whoever waits.
func (x *session) end(exit proc.Exit) {
	x.mu.Lock()
	if !x.closing {
		doing := "no command waited for a reply"
		if open := x.open1(); len(open) > 0 {
			doing = "it was to do " + strings.Join(open, ", ")
		}
		if x.hello.Protocol == 0 {
			doing = "it had not said hello"
		}
		m := ended(exit.String(), doing)
		m.Stderr = x.tail.String()
		x.Blame(m)
	}
	waiting := x.waiting
	x.waiting = nil
	select {
	case <-x.heard:
	default:
		close(x.heard)
	}
	x.mu.Unlock()
	fault := x.ProtocolError()
	for _, w := range waiting {
		if fault != nil {
			w.done <- fault
		} else {
			w.done <- adapters.ErrClosed
		}
	}
	close(x.over)
	x.Finish()
}

// open1 names the commands that wait. It is called with mu held.
func (x *session) open1() []string {
	var out []string
	for id, w := range x.waiting {
		out = append(out, fmt.Sprintf("%s (id %d)", w.c.Do, id))
	}
	slices.Sort(out)
	return out
}

// take handles a line; what is wrong with it ends the session.
func (x *session) take(b []byte) *PlugError {
	if len(bytes.TrimSpace(b)) == 0 {
		return nil
	}
	first := x.hello.Protocol == 0
	if !jsontext.Value(b).IsValid() || jsontext.Value(b).Kind() != '{' {
		if first {
			return notHello(b)
		}
		return noise(x.lines, b, errNoObject)
	}
	var m message
	if err := json.Unmarshal(b, &m, json.RejectUnknownMembers(true)); err != nil {
		if first {
			return notHello(b)
		}
		return badLine(x.lines, b, err)
	}
	switch {
	case first && m.Hello != nil:
		if m := x.meet(m.Hello); m != nil {
			return m
		}
		close(x.heard)
	case first:
		return notHello(b)
	case m.Hello != nil:
		return badLine(x.lines, b, errors.New("a second hello"))
	case m.Reply != nil:
		return x.replied(m.Reply)
	case m.Event != nil:
		e, err := x.decode(m.Event)
		if err != nil {
			return badEvent(x.lines, b, err)
		}
		x.mu.Lock()
		x.closing = x.closing || e.Type() == event.TypeSessionEnd
		x.turned(e)
		x.mu.Unlock()
		x.Add(e)
	default:
		return badLine(x.lines, b, errors.New("neither hello nor reply nor event"))
	}
	return nil
}

// turned notes whether a turn runs. It is called with mu held.
func (x *session) turned(e event.Event) {
	switch {
	case e.SubagentID != "" || e.Turn == 0:
	case e.Type() == event.TypeTurnStart:
		x.busy = true
	case e.Type() == event.TypeDone || e.Type() == event.TypeError:
		x.busy = false
	}
}

var errNoObject = errors.New("want an object")

// meet takes a hello.
func (x *session) meet(h *Hello) *PlugError {
	if h.Protocol != Version {
		return badHello("protocol is %d, this is protocol %d", h.Protocol, Version)
	}
	if h.Runtime != "" && h.Runtime != x.s.Of {
		return badHello("the program wraps %s, and is run on cases of %s: give --runtime %s", h.Runtime, x.s.Of, h.Runtime)
	}
	for _, c := range h.Can {
		if !slices.Contains(abilities, c) {
			return badHello("can: there is no %q, only %s", c, strings.Join(abilities, ", "))
		}
	}
	for _, t := range h.Events {
		if !slices.Contains(event.Types(), t) {
			return badHello("events: there is no type %q", t)
		}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.hello = *h
	return nil
}

// replied hands a reply to the command that waits for it.
func (x *session) replied(r *reply) *PlugError {
	x.mu.Lock()
	defer x.mu.Unlock()
	w := x.waiting[r.ID]
	if w == nil {
		return wrongID(r.ID, x.open1())
	}
	delete(x.waiting, r.ID)
	if w.c.Do == "close" || w.c.Do == "archive" {
		x.closing = x.closing || r.Error == nil
	}
	if r.Error == nil {
		w.done <- nil
	} else {
		w.done <- &refused{r.Error.Code, r.Error.Message, refusals[r.Error.Code]}
	}
	return nil
}

// ask gives the program a command and waits for the reply.
func (x *session) ask(ctx context.Context, c *command) error {
	w := &waiter{c, make(chan error, 1)}
	x.mu.Lock()
	if x.waiting == nil {
		defer x.mu.Unlock()
		if err := x.ProtocolError(); err != nil {
			return err
		}
		return adapters.ErrClosed
	}
	x.asked++
	c.ID = x.asked
	x.waiting[c.ID] = w
	x.mu.Unlock()
	b, err := json.Marshal(c)
	if err != nil {
		return err
	}
	if x.s.Watch != nil {
		x.s.Watch(Line{In: true, Text: string(b)})
	}
	go func() { // a program that does not read must not hold us
		x.write.Lock()
		defer x.write.Unlock()
		_, _ = x.p.Stdin().Write(append(b, '\n')) // if it has ended, its end says more
	}()
	t := time.NewTimer(replyLimit)
	defer t.Stop()
	select {
	case err := <-w.done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		m := noReply(c, replyLimit)
		x.fail(m)
		return x.ProtocolError()
	}
}

// leave lets the program end.
func (x *session) leave() error {
	x.write.Lock()
	_ = x.p.Stdin().Close()
	x.write.Unlock()
	t := time.NewTimer(endLimit)
	defer t.Stop()
	select {
	case <-x.over:
		_ = x.p.Signal(proc.SIGKILL) // whom it left behind
		return nil
	case <-t.C:
		x.fail(stays(endLimit))
		return x.ProtocolError()
	}
}

// abandon ends the program; nobody reads its events.
func (x *session) abandon() {
	x.Drop()
	_ = x.p.Signal(proc.SIGKILL)
}
