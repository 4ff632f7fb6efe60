package jsonl

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	linereader "github.com/turnspec/turnspec/adapters/lines"
	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/plug"
)

// The limits in real time. They are generous: some languages take seconds to start
// a program, and half a minute on a busy machine.
const (
	helloLimit = time.Minute
	replyLimit = 20 * time.Second
	endLimit   = 10 * time.Second
)

const (
	page       = "conformance/plug/jsonl/PROTOCOL.md"
	helloLine  = `{"hello":{"protocol":1,"can":[]}}`
	oneObject  = "write only the protocol to stdout: one JSON object a line without line ends inside, and logs to stderr"
	oneMember  = "a line has one member: hello, reply or event; " + page + " has an example of each"
	oneReply   = `reply once to each command, with the id of the command: {"reply":{"id":1}}`
	eventRules = "adapters/event/schema.json describes each event"
)

// session is a running program. It holds one session.
type session struct {
	*plug.Session
	greeted chan struct{} // closed after hello, or when the program has ended
	hello   Hello
	// declared is where the subject keeps what the program declares.
	declared *plug.LastDeclaration

	writing sync.Mutex // guards stdin
	lines   int        // read from stdout

	// Guarded by Mu:
	lastID  int
	calls   map[int]*call // that have no reply; nil when the program has ended
	replied string        // the last call that got a reply, and which; "": none
	sent    bool          // a message was sent, and no turn has begun or ended since

	plain *mapped // nil: the program writes events of package event

	tools   []adapters.Tool // of the client; set before open is sent
	hooks   []adapters.Hook
	running map[string]context.CancelFunc // calls of tools and hooks, by id; guarded by Mu
}

// call is a command that has no reply yet.
type call struct {
	line
	result chan error
	reply  *reply // set before a nil result
}

// start starts the program and waits for its hello.
func (s *Subject) start(ctx context.Context, o conformance.Open) (*session, error) {
	p, err := s.Start(ctx, o, "command", nil)
	if err != nil {
		return nil, err
	}
	x := &session{Session: plug.NewSession(&s.Program, o), greeted: make(chan struct{}), declared: &s.LastDeclaration, calls: map[int]*call{}}
	if s.Dialect != nil {
		x.plain = newMapped(x.Session, s.Dialect)
		x.holdReady(o)
	}
	x.Process, x.Cancel = p, p.Kill
	go x.readLines()
	limit := cmp.Or(s.StartLimit, helloLimit)
	if !plug.WaitFor(ctx, x.greeted, limit) && ctx.Err() == nil {
		_ = x.Fail(plug.Errorf("the program wrote no line within %v", limit).
			Advise("write " + helloLine + " as the first line, at once, and flush stdout after each line"))
	}
	if err := cmp.Or(x.ProtocolError(), ctx.Err()); err != nil {
		x.Abandon(plug.UnusedGrace)
		return nil, err
	}
	return x, nil
}

// readLines reads the program's stdout until it ends.
func (x *session) readLines() {
	lines := plug.NewLines(x.Process.Stdout())
	for {
		b, err := lines.Next()
		if err != nil && !errors.Is(err, linereader.ErrTooLong) {
			break
		}
		x.lines++
		x.Program.Show(false, string(b))
		mistake := x.badLine(b, err)
		if err == nil {
			mistake = x.handleLine(b)
		}
		if mistake != nil {
			_ = x.Fail(mistake)
			break
		}
	}
	// A program that closes only its stdout can send nothing more.
	x.Process.Reap(func() proc.Exit { return proc.End(x.Process, proc.Grace{Stdin: endLimit, Term: time.Second}) }, func() {
		x.cancelCalls()
		x.failCalls()
	})
	x.endMapped()
	x.Finish()
}

func (x *session) badLine(b []byte, err error) *plug.Error {
	if errors.Is(err, linereader.ErrTooLong) {
		return plug.TooLong(fmt.Sprintf("line %d of stdout", x.lines), b)
	}
	return plug.Errorf("line %d of stdout: %v: %s", x.lines, err, plug.Clip(string(b))).Advise(oneMember)
}

// failCalls fails the calls that wait for a reply when the program has ended.
func (x *session) failCalls() {
	x.Mu.Lock()
	calls := x.calls
	x.calls = nil
	closing := x.Closing
	greeted := x.hello.Protocol != 0
	x.Mu.Unlock()
	if !closing {
		doing := "no command waited for a reply"
		switch {
		case !greeted:
			doing = "its hello was awaited"
		case len(calls) > 0:
			doing = "these commands waited for a reply: " + describe(calls)
		}
		x.FailEnded("program", doing, "its stdin is closed")
	}
	if !greeted {
		close(x.greeted)
	}
	err := x.ProtocolError()
	if err == nil {
		err = adapters.ErrClosed
	}
	for _, c := range calls {
		c.result <- err
	}
}

// describe names calls for an error.
func describe(calls map[int]*call) string {
	var out []string
	for _, c := range calls {
		out = append(out, c.String())
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

// handleLine handles a line of the program. An error ends the session.
func (x *session) handleLine(b []byte) *plug.Error {
	if len(bytes.TrimSpace(b)) == 0 {
		return nil
	}
	if x.plain != nil && x.hello.Protocol != 0 && !isProtocol(b) {
		return x.handleMapped(b)
	}
	var m message
	isObject := jsontext.Value(b).IsValid() && jsontext.Value(b).Kind() == '{'
	err := json.Unmarshal(b, &m, json.RejectUnknownMembers(true))
	switch first := x.hello.Protocol == 0; {
	case first && (!isObject || err != nil || m.Hello == nil):
		return plug.Errorf("the first line is no hello: %s", plug.Clip(string(b))).Advise("write " + helloLine + " before anything else, and logs to stderr")
	case !isObject:
		return plug.Errorf("line %d of stdout is no JSON object: %s", x.lines, plug.Clip(string(b))).Advise(oneObject)
	case err != nil:
		return x.badLine(b, err)
	case first:
		return x.handleHello(m.Hello)
	case m.Hello != nil:
		return x.badLine(b, errors.New("a second hello"))
	case m.Reply != nil:
		return x.handleReply(m.Reply)
	case m.Event != nil:
		if err := x.handleEvent(m.Event); err != nil {
			return plug.Errorf("line %d of stdout: the event is not right: %v: %s", x.lines, err, plug.Clip(string(b))).Advise(eventRules)
		}
		return nil
	case m.Call != nil:
		return x.handleCall(m.Call)
	case m.Cancel != nil:
		x.cancelCall(m.Cancel.ID)
		return nil
	}
	return x.badLine(b, errors.New("neither hello nor reply nor event"))
}

func (x *session) handleHello(h *Hello) *plug.Error {
	if h.Protocol != Version {
		return plug.Errorf("hello: protocol is %d, this is protocol %d", h.Protocol, Version).Advise(page + " describes it")
	}
	if e := h.Check(x.Program.Of, "hello", "program", page, Abilities()); e != nil {
		return e
	}
	x.Mu.Lock()
	if x.plain != nil {
		x.plain.adapt(&h.Declaration)
	}
	x.hello = *h
	x.Mu.Unlock()
	x.declared.Store(h.Declaration)
	close(x.greeted)
	return nil
}

func (x *session) handleEvent(b []byte) error {
	var e plug.Envelope
	if err := json.Unmarshal(b, &e, json.RejectUnknownMembers(true)); err != nil {
		return err
	}
	x.Mu.Lock()
	defer x.Mu.Unlock()
	if !x.hello.Emits(e.Type) {
		return fmt.Errorf("type: hello did not declare %q among its events", e.Type)
	}
	if x.plain != nil {
		x.beginMapped()
		return x.plain.Add(e)
	}
	out, err := x.Decode(e)
	if err != nil {
		return err
	}
	switch out.Type() {
	case event.TypeSessionEnd:
		x.Closing = true
	case event.TypeTurnStart, event.TypeDone, event.TypeError:
		if out.SubagentID == "" && out.Turn > 0 {
			x.Running, x.sent = out.Type() == event.TypeTurnStart, false
		}
	}
	x.Add(out)
	return nil
}

// handleReply gives a reply to the call that waits for it.
func (x *session) handleReply(r *reply) *plug.Error {
	x.Mu.Lock()
	defer x.Mu.Unlock()
	c := x.calls[r.ID]
	switch {
	case c == nil && len(x.calls) == 0:
		return plug.Errorf("a reply with id %d, but no command waits for one", r.ID).Advise(oneReply)
	case c == nil:
		return plug.Errorf("a reply with id %d, but these commands wait for one: %s", r.ID, describe(x.calls)).Advise(oneReply)
	}
	delete(x.calls, r.ID)
	x.replied = c.String() + " was done"
	if r.Error != nil {
		x.replied = c.String() + " got the error " + cmp.Or(r.Error.Code, r.Error.Message)
		c.result <- &plug.RefusalError{Code: r.Error.Code, Text: r.Error.Message, Err: plug.RefusalErrors[r.Error.Code]}
		return nil
	}
	x.Closing = x.Closing || c.verb() == "close" || c.verb() == "archive"
	c.reply = r
	c.result <- nil
	return nil
}

// send writes a command and waits for the reply.
func (x *session) send(ctx context.Context, c line) error {
	_, err := x.request(ctx, c)
	return err
}

// request writes a command and returns the reply.
func (x *session) request(ctx context.Context, c line) (*reply, error) {
	pending := &call{line: c, result: make(chan error, 1)}
	x.Mu.Lock()
	if x.calls == nil {
		x.Mu.Unlock()
		return nil, cmp.Or(x.ProtocolError(), adapters.ErrClosed)
	}
	x.lastID++
	*c.number() = x.lastID
	x.calls[x.lastID] = pending
	x.Mu.Unlock()
	x.write(c)
	t := time.NewTimer(x.replyLimit())
	defer t.Stop()
	select {
	case err := <-pending.result:
		return pending.reply, err
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-t.C:
		return nil, x.noReply(c)
	}
}

func (x *session) replyLimit() time.Duration { return cmp.Or(x.Program.ReplyLimit, replyLimit) }

// noReply fails the session because a call got no reply. The message names the call
// before it: if the runtime refused something, it is seldom the call that hangs.
func (x *session) noReply(c line) error {
	limit := x.replyLimit()
	x.Mu.Lock()
	replied := x.replied
	x.Mu.Unlock()
	if c.verb() == "open" || replied == "" {
		return x.Fail(plug.Errorf("no reply to %s within %v", c, limit).Advise(fmt.Sprintf(
			`write {"reply":{"id":%d}} when it is done, or {"reply":{"id":%d,"error":{"code":"unsupported","message":"…"}}}; `+
				"go on reading while a turn runs, because commands come then too", *c.number(), *c.number())))
	}
	return x.Fail(plug.Errorf("no reply to %s within %v; the last reply: %s", c, limit, replied).Advise(fmt.Sprintf(
		"find what the program waits for before it replies to the line {\"id\":%d,\"do\":%q, …} of this protocol, which is no line of the runtime; "+
			"a call whose request the runtime refuses, or does not answer in time, gets an error as its reply", *c.number(), c.verb())))
}

// write writes a line to the program. It does not block if the program does not read.
func (x *session) write(line any) {
	b, err := json.Marshal(line)
	if err != nil {
		_ = x.Fail(plug.Errorf("the suite could not write %T: %v", line, err))
		return
	}
	x.Program.Show(true, string(b))
	go func() {
		x.writing.Lock()
		defer x.writing.Unlock()
		_, _ = x.Process.Stdin().Write(append(b, '\n')) // if the program has ended, failCalls reports it
	}()
}

// closeStdin closes the program's stdin and waits for its end.
func (x *session) closeStdin() error {
	x.writing.Lock()
	_ = x.Process.Stdin().Close()
	x.writing.Unlock()
	if !plug.WaitFor(context.Background(), x.Process.Done, endLimit) {
		return x.Fail(plug.Errorf("the program still ran %v after it had replied to close and its stdin was closed", endLimit).
			Advise("end the runtime, then the program, when stdin is at its end"))
	}
	x.Process.Kill() // the children that it left running
	return nil
}
