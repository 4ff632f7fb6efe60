package perform

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fixtures"
)

// lifeAct performs an act on the session as a whole.
func lifeAct(ctx context.Context, sess conformance.Session, act fixtures.Step) error {
	switch act.Verb {
	case fixtures.VerbRevert:
		if x, ok := sess.(conformance.Reverter); ok {
			return x.Revert(ctx, act.ID)
		}
	case fixtures.VerbRewind:
		if x, ok := sess.(conformance.Rewinder); ok {
			return x.Rewind(ctx, act.ID, act.What == "dry")
		}
	case fixtures.VerbCompact:
		if x, ok := sess.(conformance.Compacter); ok {
			return x.Compact(ctx)
		}
	case fixtures.VerbArchive:
		if x, ok := sess.(conformance.Archiver); ok {
			return x.Archive(ctx)
		}
	case fixtures.VerbName:
		if x, ok := sess.(conformance.Renamer); ok {
			return x.Rename(ctx, act.Text)
		}
	default:
		return fmt.Errorf("the suite does not know how to %s", act.Verb)
	}
	return fmt.Errorf("%s: %w", act.Verb, adapters.ErrUnsupported)
}

// conversation is one of the sessions of a run: it may be opened several times.
type conversation struct {
	id       string // ours
	provider string
	seq      int64 // of its last event
}

// opening says what a subject is to open, and as which of the sessions.
func (d *director) opening(act fixtures.Step) (conformance.Open, *conversation, error) {
	mode := d.run.Scenario.Asking()
	o := conformance.Open{
		Ask:         mode != "never",
		Mode:        mode,
		Checkpoints: slices.Contains(d.run.Scenario.Needs, "checkpoint"),
		Model:       d.run.Scenario.OpenModel(d.run.Runtime),
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	from := d.current
	if n, err := strconv.Atoi(act.ID); err == nil {
		if n > len(d.talks) {
			return o, nil, fmt.Errorf("%w: there is no session %d", errNotBegun, n)
		}
		from = d.talks[n-1]
	}
	if act.ID == "unknown" {
		from = &conversation{provider: fixtures.UnknownSession}
	}
	if act.What != "" {
		if from == nil || from.provider == "" {
			return o, nil, fmt.Errorf("%w: no session that was opened told its provider_session_id", errNotBegun)
		}
		o.Resume = from.provider
	}
	switch act.What {
	case "resume", "unarchive":
		o.SessionID, o.Unarchive = from.id, act.What == "unarchive"
		o.After = event.Position{Seq: from.seq, Turn: d.turns}
		if o.SessionID == "" {
			o.SessionID = d.nextID()
			from.id = o.SessionID
		}
		return o, from, nil
	case "fork":
		o.Fork, o.After.Turn = true, d.turns
		if act.At != "" {
			if o.At = d.turnOf(act.At); o.At == "" {
				return o, nil, fmt.Errorf("open fork at: the events tell no id of the turn of %s: %w", act.At, conformance.ErrDeclaredUnsupported)
			}
		}
	}
	o.SessionID = d.nextID()
	return o, &conversation{id: o.SessionID}, nil
}

// nextID names a new session: s1, s2 and so on.
func (d *director) nextID() string { return "s" + strconv.Itoa(len(d.talks)+1) }

// turnOf is the runtime's id of the turn that took a message, as events tell it.
func (d *director) turnOf(message string) string {
	for _, e := range d.run.Events {
		if t, ok := e.Data.(event.TurnStart); ok && slices.Contains(t.MessageIDs, message) {
			return t.ProviderTurnID
		}
	}
	return ""
}

// killed lets the subject notice that somebody ended its runtime, and closes
// what is left of the session.
func (d *director) killed(ctx context.Context) {
	d.settle(d.ended, EndLimit)
	if d.sess == nil {
		return
	}
	_ = d.wait(ctx, d.sess, fixtures.Step{Verb: fixtures.VerbClose}) // whether it told of the end by itself, checks see
	d.sess = nil
	_ = d.closed()
}

// ended reports whether the session has ended by itself.
func (d *director) ended() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := len(d.run.Events)
	return n > d.begun && d.run.Events[n-1].Type() == event.TypeSessionEnd
}

// Transcribed is the run of a case that no subject can perform: what the subject
// makes of the lines that the runtime wrote. Without a Transcriber it holds no
// events.
func Transcribed(s conformance.Subject, scn *fixtures.Scenario, c *fixtures.Case) *conformance.Run {
	r := &conformance.Run{Tier: conformance.TierWitness, Subject: s.Name(), Runtime: c.Runtime, Scenario: scn, Case: c, Witness: c.Witness}
	t, ok := s.(conformance.Transcriber)
	if !ok {
		return r
	}
	var at time.Duration
	lines := t.Transcribe(func(e event.Event) {
		r.Events = append(r.Events, conformance.Event{Event: e, At: at, Line: len(r.Played)})
	})
	if lines == nil {
		return r
	}
	start := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC) // as a play begins
	for i := range c.Wire {
		if w := &c.Wire[i]; w.Dir == fixtures.Out {
			at = w.T
			r.Played = append(r.Played, conformance.PlayedLine{Line: *w, At: at})
			lines.Line(start.Add(at), w.Bytes)
		}
	}
	lines.End()
	return r
}
