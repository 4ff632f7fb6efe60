package standin

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/fixtures/wire"
)

// Kind is what a client did.
type Kind = wire.Kind

// The kinds of client steps. Open, send, steer, answer, stop, set, session, task
// and close are barriers, and so is recorded junk; the rest never halts a play.
const (
	KindOpen    = wire.Open
	KindSend    = wire.Send
	KindSteer   = wire.Steer
	KindAnswer  = wire.Answer
	KindStop    = wire.Stop
	KindSet     = wire.Set
	KindSession = wire.SessionOp
	KindTask    = wire.Task
	KindClose   = Kind("close") // stdin was closed
	KindRead    = wire.Read
	KindNote    = wire.Note
	KindSignal  = Kind("signal")
	KindRelease = Kind("release") // a hold was released; a barrier if Options.Holds is set
	KindJunk    = wire.Junk
)

// The decisions of answers.
const (
	Allow  = wire.Allow
	Deny   = wire.Deny
	Cancel = wire.Cancel
	Value  = wire.Value
	Failed = wire.Failed
)

// step is a line of a client, or that it closed stdin or sent a signal.
type step struct {
	*wire.Line
	id       jsontext.Value // of the request, or of the request that it answers
	optional bool           // a barrier only until a later step has come
	free     bool           // no barrier: another client need not do it
}

func readStep(rt *wire.Runtime, line []byte) step {
	l := rt.ReadInput(line)
	s := step{Line: &l, id: l.ID, optional: l.Step.Optional}
	if l.Kind == KindAnswer {
		s.id = l.RepliesTo
	}
	return s
}

// replyID is the id that a reply to the step has: an answer may be a request of its own.
func (s *step) replyID() jsontext.Value {
	if s.Kind == KindAnswer && s.ID != nil {
		return s.ID
	}
	return s.id
}

// processStep is a step that is no line.
func processStep(kind Kind, signal string) step {
	return step{Line: &wire.Line{Kind: kind, Method: signal, Step: &wire.Step{}}}
}

// namesWhat reports whether the step names words of the user, or what it is about.
func (s *step) namesWhat() bool {
	switch s.Kind {
	case KindSend, KindSteer, KindStop, KindTask, KindSession:
		return true
	}
	return false
}

// halts reports whether output stops at the step.
func (s *step) halts() bool {
	return !s.free && s.Kind != KindRead && s.Kind != KindNote
}

// isHandshake reports whether the step is the first request of a connection.
func (s *step) isHandshake() bool { return s.Kind == KindOpen && s.Step.Handshake }

// sameStep reports whether the subject's step is the recorded one. played
// translates recorded ids into those of this play.
func sameStep(rec, sub *step, played func(string) string) bool {
	return rec.Kind == sub.Kind && rec.Method == sub.Method && rec.Step.Text == sub.Step.Text && rec.Step.Ephemeral == sub.Step.Ephemeral &&
		played(rec.Session) == sub.Session && played(rec.Turn) == sub.Turn && played(rec.Step.Target) == sub.Step.Target
}

// describe names a step in reports.
func describe(s *step) string {
	out := string(s.Kind)
	if s.Method != "" {
		out += " (" + s.Method + ")"
	}
	if ids := strings.TrimSpace(s.Session + " " + s.Turn); ids != "" {
		out += " " + ids
	}
	if s.Step.Text != "" {
		out += ": " + s.Step.Text
	}
	return out
}
