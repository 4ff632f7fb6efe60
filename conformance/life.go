package conformance

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/fixtures"
)

// What a Session may also be able to do. A scenario that asks for what it is
// not able to do is not expressible for it. Package adapters says what each
// means.
type (
	// Reverter cuts the history before a message.
	Reverter interface {
		Revert(ctx context.Context, messageID string) error
	}
	// Rewinder puts files back as they were when a message came.
	Rewinder interface {
		Rewind(ctx context.Context, messageID string, dry bool) error
	}
	// Compacter has the history summed up.
	Compacter interface {
		Compact(ctx context.Context) error
	}
	// Archiver puts the session away and ends it.
	Archiver interface {
		Archive(ctx context.Context) error
	}
	// Renamer gives the session a name.
	Renamer interface {
		Rename(ctx context.Context, name string) error
	}
	// Transcriber is a Subject that also reads what a runtime once wrote to its
	// stdout.
	Transcriber interface {
		Transcribe(emit func(event.Event)) adapters.Transcript
	}
)

// Transcribe implements Transcriber, or returns nil.
func (s *adapterSubject) Transcribe(emit func(event.Event)) adapters.Transcript {
	if t, ok := s.adapter.(adapters.Transcriber); ok {
		return t.Transcribe(firstSession, emit)
	}
	return nil
}

// Revert implements Reverter.
func (s adapterSession) Revert(ctx context.Context, messageID string) error {
	if x, ok := s.s.(adapters.Reverter); ok {
		return x.Revert(ctx, messageID)
	}
	return adapters.ErrUnsupported
}

// Rewind implements Rewinder.
func (s adapterSession) Rewind(ctx context.Context, messageID string, dry bool) error {
	if x, ok := s.s.(adapters.Rewinder); ok {
		_, err := x.Rewind(ctx, messageID, dry)
		return err
	}
	return adapters.ErrUnsupported
}

// Compact implements Compacter.
func (s adapterSession) Compact(ctx context.Context) error {
	if x, ok := s.s.(adapters.Compacter); ok {
		return x.Compact(ctx)
	}
	return adapters.ErrUnsupported
}

// Archive implements Archiver.
func (s adapterSession) Archive(ctx context.Context) error {
	if x, ok := s.s.(adapters.Archiver); ok {
		return x.Archive(ctx)
	}
	return adapters.ErrUnsupported
}

// Rename implements Renamer.
func (s adapterSession) Rename(ctx context.Context, name string) error {
	if x, ok := s.s.(adapters.Renamer); ok {
		return x.Rename(ctx, name)
	}
	return adapters.ErrUnsupported
}

// lifeAct performs an act on the session as a whole.
func lifeAct(ctx context.Context, sess Session, act fixtures.Step) error {
	switch act.Verb {
	case fixtures.VerbRevert:
		if x, ok := sess.(Reverter); ok {
			return x.Revert(ctx, act.ID)
		}
	case fixtures.VerbRewind:
		if x, ok := sess.(Rewinder); ok {
			return x.Rewind(ctx, act.ID, act.What == "dry")
		}
	case fixtures.VerbCompact:
		if x, ok := sess.(Compacter); ok {
			return x.Compact(ctx)
		}
	case fixtures.VerbArchive:
		if x, ok := sess.(Archiver); ok {
			return x.Archive(ctx)
		}
	case fixtures.VerbName:
		if x, ok := sess.(Renamer); ok {
			return x.Rename(ctx, act.Text)
		}
	default:
		return fmt.Errorf("the suite does not know how to %s", act.Verb)
	}
	return fmt.Errorf("%s: %w", act.Verb, adapters.ErrUnsupported)
}

// mayLack reports whether an act is one that a runtime, and so a subject, may
// have no way to do.
func mayLack(a fixtures.Step) bool {
	switch a.Verb {
	case fixtures.VerbRevert, fixtures.VerbRewind, fixtures.VerbCompact, fixtures.VerbArchive, fixtures.VerbName:
		return true
	case fixtures.VerbOpen:
		return a.What == "fork" || a.What == "unarchive"
	}
	return false
}

// firstSession names the session that is opened first.
const firstSession = "s1"

// conversation is one of the sessions of a run: it may be opened several times.
type conversation struct {
	id       string // ours
	provider string
	seq      int64 // of its last event
}

// opening says what a subject is to open, and as which of the sessions.
func (d *director) opening(act fixtures.Step) (Open, *conversation, error) {
	mode := d.run.Scenario.Asking()
	o := Open{
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
				return o, nil, fmt.Errorf("open fork at: the events tell no id of the turn of %s: %w", act.At, ErrDeclaredUnsupported)
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
func Transcribed(s Subject, scn *fixtures.Scenario, c *fixtures.Case) *Run {
	r := &Run{Tier: TierWitness, Subject: s.Name(), Runtime: c.Runtime, Scenario: scn, Case: c, Witness: c.Witness}
	t, ok := s.(Transcriber)
	if !ok {
		return r
	}
	var at time.Duration
	lines := t.Transcribe(func(e event.Event) { r.Events = append(r.Events, Event{e, at, len(r.Played), 0}) })
	if lines == nil {
		return r
	}
	start := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC) // as a play begins
	for i := range c.Wire {
		if w := &c.Wire[i]; w.Dir == fixtures.Out {
			at = w.T
			r.Played = append(r.Played, PlayedLine{*w, at})
			lines.Line(start.Add(at), w.Bytes)
		}
	}
	lines.End()
	return r
}

// inexpressible gives the verdicts on a case that no subject can perform.
func (cfg Config) inexpressible(j Job, scn *fixtures.Scenario, why string) []Result {
	run := Transcribed(j.Subject, scn, j.Case)
	var out []Result
	for _, check := range cfg.Checks {
		for _, tier := range []Tier{TierWitness, TierTiming} {
			if slices.Contains(check.Tiers, tier) && cfg.tier(tier) {
				out = append(out, Result{Check: check, Case: j.Case.ID, Subject: j.Subject.Name(), Tier: tier,
					Verdict: NotExpressible, Reason: why, Trial: &Trial{Run: run}})
			}
		}
	}
	if cfg.Golden && cfg.tier(TierGolden) {
		out = append(out, cfg.judgeGolden(run)...)
	}
	return out
}
