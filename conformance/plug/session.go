package plug

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/conformance"
)

// Session is the base of a session with a program. The session of a protocol
// embeds it, and passes what it reads to Add, or to Emit if the protocol has no
// turns.
//
// Mu guards the fields below it and those of the embedding session. Methods from
// MarkUnsupported on are called with Mu held, those before without it.
type Session struct {
	*queue
	Program *Program
	Process *Process // nil if the program was started before the run
	ID      string   // the name that the harness gave to the session

	// Cancel makes the reader of the protocol end: it kills the program or cuts
	// the stream.
	Cancel func()

	Mu          sync.Mutex
	Closing     bool  // from now on, an end of the program or stream is expected
	Seq         int64 // of the last event that the session numbered
	unsupported map[string]bool

	// Of protocols without turns:
	Turn    int
	Running bool         // a turn runs
	Ready   bool         // session_ready was emitted
	held    []event.Data // until then
	blocks  int
	Block   string // the open block of text, or ""
}

// NewSession returns the base of a session with the options o.
func NewSession(p *Program, o conformance.Open) *Session {
	return &Session{queue: newQueue(), Program: p, ID: o.SessionID, Seq: o.After.Seq, Turn: o.After.Turn, unsupported: map[string]bool{}}
}

// Fail records e and cancels the reader, unless there was an error before. The
// program's output after its first mistake is meaningless. Fail returns the first
// error.
func (s *Session) Fail(e *Error) error {
	e.Stderr = s.Process.Output()
	if s.recordError(e) && s.Cancel != nil {
		s.Cancel()
	}
	return s.ProtocolError()
}

// FailEnded records that the program ended while it was needed. kind names the
// program, until is what it should have waited for.
func (s *Session) FailEnded(kind, doing, until string) {
	e := Errorf("the %s ended (%s) while %s", kind, s.Process.Exit, doing).
		Advise("keep it running until " + until + "; its stderr, if it wrote any, says why it ended")
	e.Stderr = s.Process.Output()
	s.recordError(e)
}

// End ends the program as grace says, and returns when its output has been read. A program
// that had to be killed fails: kind names it, and advice says what its author should do.
func (s *Session) End(grace proc.Grace, kind, advice string) {
	start := time.Now()
	proc.End(s.Process, grace)
	if limit := grace.Stdin + grace.Term; time.Since(start) >= limit {
		_ = s.Fail(Errorf("the %s still ran %v after its stdin was closed and it was sent SIGTERM", kind, limit).Advise(advice))
	}
	<-s.Process.Done
}

// signalLimit is how long a program may run after it was signalled. It is generous: a
// program has a runtime to end, and a machine may be slow.
const signalLimit = 15 * time.Second

// SignalProgram implements conformance.ProgramSignaller. The program is killed if it does
// not exit.
func (s *Session) SignalProgram(ctx context.Context, sig proc.Signal) (conformance.SignalResult, error) {
	r := conformance.SignalResult{Signal: sig}
	if s.Process == nil {
		return r, Unsupported("a signal to a program that runs already")
	}
	alone, can := s.Process.Process.(proc.AloneSignaller)
	if !can {
		return r, Unsupported("a signal to the program")
	}
	s.Mu.Lock()
	s.Closing = true
	s.Mu.Unlock()
	start := time.Now()
	if err := alone.SignalAlone(sig); err != nil {
		return r, UnsupportedBecause(string(sig) + ": " + err.Error())
	}
	r.Exited = WaitFor(ctx, s.Process.Done, signalLimit)
	r.Took = time.Since(start).Round(time.Millisecond)
	if !r.Exited {
		s.Process.Kill()
		<-s.Process.Done
	}
	return r, nil
}

// ProgramOutput implements conformance.ProgramReporter.
func (s *Session) ProgramOutput() conformance.ProgramOutput {
	if s.Process == nil {
		return conformance.ProgramOutput{}
	}
	out := conformance.ProgramOutput{Stderr: s.Process.Output()}
	select {
	case <-s.Process.Done:
		out.Exit = s.Process.Exit.String()
	default:
	}
	return out
}

// UnusedGrace is how long a program has to end if its session is not used. It may have a
// runtime to end, which would be killed with it.
var UnusedGrace = proc.Grace{Stdin: 2 * time.Second, Term: 2 * time.Second}

// Abandon ends a session whose events are not read, and its program as grace says.
func (s *Session) Abandon(grace proc.Grace) {
	s.drop()
	if s.Process != nil {
		proc.End(s.Process, grace)
	}
	if s.Cancel != nil {
		s.Cancel()
	}
}

// Abort implements conformance.Aborter.
func (s *Session) Abort(why error) {
	s.recordError(why)
	s.drop()
	if s.Process != nil {
		s.Process.Kill()
	}
	if s.Cancel != nil {
		s.Cancel()
	}
}

// MarkUnsupported records that the program does not report these members of
// events, in the form of conformance.EventSupporter.
func (s *Session) MarkUnsupported(what ...string) {
	for _, w := range what {
		s.unsupported[w] = true
	}
}

// Unsupported reports whether what was marked.
func (s *Session) Unsupported(what string) bool { return s.unsupported[what] }

// Envelope is an event as a program may write it: Decode fills in what is missing.
type Envelope struct {
	Type       event.Type     `json:"type"`
	Data       jsontext.Value `json:"data"`
	TS         string         `json:"ts,omitempty"`
	Seq        int64          `json:"seq,omitzero"`
	SessionID  string         `json:"session_id,omitempty"`
	Turn       int            `json:"turn,omitzero"`
	SubagentID string         `json:"subagent_id,omitempty"`
}

// Lenient are the JSON options for what a program writes where its protocol asks
// for no more than that.
var Lenient = json.JoinOptions(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))

// Decode returns the event of an envelope. It fills in a missing time, number or
// session and marks time and number as unsupported then.
func (s *Session) Decode(e Envelope) (event.Event, error) {
	if e.TS == "" {
		s.MarkUnsupported("ts")
		e.TS = time.Now().UTC().Format(time.RFC3339Nano)
	}
	if e.SessionID == "" {
		e.SessionID = s.ID
	}
	switch {
	case e.Seq == 0:
		s.MarkUnsupported("seq")
		s.Seq++
		e.Seq = s.Seq
	case s.unsupported["seq"]:
		return event.Event{}, errors.New("seq: either all events have it or none, and an earlier one had none")
	}
	return e.decodeStrict()
}

func (e *Envelope) decodeStrict() (event.Event, error) {
	b, err := json.Marshal(e, Lenient)
	if err != nil {
		return event.Event{}, err
	}
	return event.Decode(b)
}

// DecodeData returns the event of an envelope without time and number, which
// EmitIn fills in.
func (e *Envelope) DecodeData() (event.Event, error) {
	e.Seq, e.Turn, e.TS = 1, 0, time.Now().UTC().Format(time.RFC3339Nano)
	return e.decodeStrict()
}

// EmitIn adds an event of a turn and a sub-agent with the next number.
func (s *Session) EmitIn(d event.Data, turn int, subagent string) {
	s.Seq++
	s.Add(event.Event{Data: d, TS: time.Now().UTC(), Seq: s.Seq, SessionID: s.ID, Turn: turn, SubagentID: subagent})
}

// Emit adds an event of the turn that runs, or that ran last. Before
// session_ready it holds the event back.
func (s *Session) Emit(d event.Data) {
	if !s.Ready {
		s.held = append(s.held, d)
		return
	}
	s.EmitIn(d, s.TurnOf(d), "")
}

// TurnOf returns the turn of an event. What only a turn can have belongs to the
// last one if none runs: the program should have sent it before the turn's end.
// A tool call may outlive its turn, and all else belongs to the session.
func (s *Session) TurnOf(d event.Data) int {
	if s.Running {
		return s.Turn
	}
	switch d.(type) {
	case event.Delta, event.Thinking, event.BlockEnd, event.Result, event.Done, event.Error:
		return s.Turn
	}
	return 0
}

// EmitReady emits session_ready, and then the held events for which keep returns
// true.
func (s *Session) EmitReady(d event.SessionReady, keep func(event.Data) bool) {
	s.Ready = true
	s.EmitIn(d, 0, "")
	held := s.held
	s.held = nil
	for _, e := range held {
		if keep == nil || keep(e) {
			s.Emit(e)
		}
	}
}

// BeginTurn starts the turn of a user's message.
func (s *Session) BeginTurn(m adapters.Message) {
	s.Turn++
	s.Running = true
	s.Emit(event.TurnStart{Cause: event.CauseUser, MessageIDs: []string{m.ID}})
	s.Emit(event.UserMessage{MessageID: m.ID, Text: m.Text, Via: event.ViaTurn})
}

// NextBlock returns the id of a new block. It holds the turn, because a resumed
// session counts from 1 again.
func (s *Session) NextBlock() string {
	s.blocks++
	return strconv.Itoa(s.Turn) + "." + strconv.Itoa(s.blocks)
}

// EndBlock ends the open block of text.
func (s *Session) EndBlock(status event.BlockStatus) {
	if s.Block != "" {
		s.Emit(event.BlockEnd{BlockID: s.Block, Status: status})
		s.Block = ""
	}
}

// EndSession emits the end of the session. If closed is false, the
// session ended without a Close for this reason, and EndSession ends a running turn
// with an error; after a Close the program has to end its turn. interrupt ends what
// is open in the running turn.
func (s *Session) EndSession(closed bool, reason string, interrupt func()) {
	if s.Running {
		interrupt()
		if !closed {
			s.Emit(event.Error{Code: event.ErrorCrash, Message: reason})
		}
		s.Running = false
	}
	if closed {
		reason = "closed"
	}
	if s.ProtocolError() != nil { // the program was ended before it could say the exit code
		s.MarkUnsupported("session_end.exit_code")
	}
	if s.Ready {
		s.EmitIn(event.SessionEnd{Reason: reason}, 0, "")
	}
}
