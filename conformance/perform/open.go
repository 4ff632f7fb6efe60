package perform

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fakes/servers"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/wire/runtimes"
)

// clientStartsServers reports whether the subject itself starts the scenario's MCP servers, because
// the runtime only replies to its requests.
func clientStartsServers(r *conformance.Run) bool {
	rt := runtimes.Find(r.Runtime)
	return rt != nil && rt.ClientRunsTurns && len(r.Scenario.Servers) > 0
}

// conversation is one of the sessions of a run. It may be opened several times.
type conversation struct {
	id       string // ours
	provider string // the runtime's
	seq      int64  // of its last event
}

// openSession opens the session that a step names and starts its listener.
func (d *director) openSession(ctx context.Context, s fixtures.Step) error {
	if clientStartsServers(d.run) && servers.Get() == nil && d.run.Tier != conformance.TierLive {
		return fmt.Errorf("%w: %w", conformance.ErrDeclaredUnsupported, servers.ErrNone)
	}
	o, talk, err := d.openOptions(s)
	if err != nil {
		return err
	}
	d.calls.addTo(&o)
	o = d.env.prepareOpen(o)
	for _, dir := range d.run.Scenario.Opening.ExtraDirs {
		o.ExtraDirs = append(o.ExtraDirs, filepath.Join(o.Dir, dir))
	}
	o.Args = append(slices.Clip(o.Args), s.Args...)
	if o.Judge, err = newJudge(d.subject, o.Policy); err != nil {
		return fmt.Errorf("%s: %w", d.run.Scenario.File, err)
	}
	if d.limits != nil {
		o.Limits = *d.limits
	}
	sess, err := d.subject.Open(ctx, o)
	d.mu.Lock()
	d.eventsBefore = len(d.run.Events)
	opened := conformance.OpenResult{Step: s, Resume: o.Resume, Dir: o.Dir, ExtraDirs: o.ExtraDirs, Model: o.Model, Provider: d.env.providerID(), Line: len(d.run.Played), Err: err}
	if o.Judge != nil {
		opened.Denial = denyReason
	}
	d.run.Opens = append(d.run.Opens, opened)
	if err == nil {
		if d.current = talk; !slices.Contains(d.conversations, talk) {
			d.conversations = append(d.conversations, talk)
		}
	}
	d.mu.Unlock()
	if err != nil {
		if errors.Is(err, conformance.ErrProtocol) {
			d.run.Hang = err.Error()
		}
		return err
	}
	if c, ok := adapters.As[conformance.ProtocolChecker](sess); ok {
		d.checkers = append(d.checkers, c)
	}
	if a, ok := adapters.As[conformance.Aborter](sess); ok {
		d.mu.Lock()
		d.aborters = append(d.aborters, a)
		d.mu.Unlock()
	}
	if t, ok := adapters.As[conformance.LimitTaker](sess); ok && t.TakesLimits() {
		d.run.Limits = &o.Limits
	}
	if p, ok := adapters.As[conformance.ProgramReporter](sess); ok {
		d.programs = append(d.programs, p)
	}
	if p, ok := adapters.As[conformance.Prober](sess); ok {
		d.probers = append(d.probers, p)
	}
	if c, ok := adapters.As[conformance.EventSupporter](sess); ok {
		before := d.run.EventSupport // of an earlier session of the run
		d.run.EventSupport = func(what string) bool { return c.Supports(what) && (before == nil || before(what)) }
	}
	drained := make(chan struct{})
	d.mu.Lock() // an environment may be asking whether the session before has ended
	d.sess, d.drained = sess, drained
	d.mu.Unlock()
	go d.listen(sess, talk, drained)
	return nil
}

// openOptions returns the options of the step's Open, and its conversation.
func (d *director) openOptions(s fixtures.Step) (conformance.Open, *conversation, error) {
	mode := d.run.Scenario.InitialMode()
	o := conformance.Open{Opening: d.run.Scenario.Opening, Ask: mode != "never"}
	o.Mode, o.Model = mode, d.run.Scenario.OpenModel(d.run.Runtime, d.run.Version)
	o.Checkpoints = slices.Contains(d.run.Scenario.Needs, "checkpoint")
	o.ExtraDirs = nil // they are relative to the folder, which the environment chooses
	d.mu.Lock()
	defer d.mu.Unlock()
	from := d.current
	if n, err := strconv.Atoi(s.ID); err == nil {
		if n > len(d.conversations) {
			return o, nil, fmt.Errorf("%w: there is no session %d", errNotStarted, n)
		}
		from = d.conversations[n-1]
	}
	if s.ID == "unknown" {
		from = &conversation{provider: fixtures.UnknownSession}
	}
	if s.What != "" {
		if from == nil || from.provider == "" {
			return o, nil, fmt.Errorf("%w: no opened session has reported its provider_session_id", errNotStarted)
		}
		o.Resume = from.provider
	}
	switch s.What {
	case "resume", "unarchive":
		o.SessionID, o.Unarchive = from.id, s.What == "unarchive"
		o.After = event.Position{Seq: from.seq, Turn: d.turns}
		if o.SessionID == "" {
			o.SessionID = d.nextSessionID()
			from.id = o.SessionID
		}
		return o, from, nil
	case "fork":
		o.Fork, o.After.Turn = true, d.turns
		if s.At != "" {
			if o.At = d.turnOf(s.At); o.At == "" {
				return o, nil, fmt.Errorf("open fork at: the events tell no id of the turn of %s: %w", s.At, conformance.ErrDeclaredUnsupported)
			}
		}
	}
	o.SessionID = d.nextSessionID()
	return o, &conversation{id: o.SessionID}, nil
}

// nextSessionID names a new session: s1, s2 and so on.
func (d *director) nextSessionID() string { return "s" + strconv.Itoa(len(d.conversations)+1) }

// turnOf returns the runtime's id of the turn that took a message, from the
// events, or "".
func (d *director) turnOf(message string) string {
	for i, e := range d.run.Events {
		t, ok := e.Data.(event.TurnStart)
		if !ok || !slices.Contains(t.MessageIDs, message) {
			continue
		}
		if t.ProviderTurnID == "" {
			return d.lastLineOf(d.run.Events[i:])
		}
		return t.ProviderTurnID
	}
	return ""
}

// lastLineOf returns the id of the last line of a turn at which its runtime forks a session; "" if
// it forks at turns. The events begin with the start of the turn.
func (d *director) lastLineOf(events []conformance.Event) (id string) {
	rt := runtimes.Find(d.run.Runtime)
	end := slices.IndexFunc(events, conformance.Event.Terminal)
	if rt == nil || end < 0 {
		return ""
	}
	read := func(w *fixtures.WireLine) {
		if w.Dir == fixtures.Out {
			id = cmp.Or(w.Read(rt).ForkAt, id)
		}
	}
	played := d.run.Played[:events[end].Line]
	if c := d.run.Case; c != nil && len(played) > 0 { // a fault may have changed what was played
		last := played[len(played)-1].Line.Line
		for i := range c.Wire {
			if w := &c.Wire[i]; w.Line > last && w.Dir != fixtures.Out {
				break // what follows is not of the turn
			}
			read(&c.Wire[i])
		}
		return d.env.playedID(id)
	}
	for i := range played {
		read(&played[i].Line)
	}
	return id
}

// listen records the events of a session until its channel is closed.
func (d *director) listen(sess adapters.Session, talk *conversation, drained chan struct{}) {
	defer close(drained)
	dropped := 0
	for e := range sess.Events() {
		d.mu.Lock()
		if aborted := d.abortErr != nil; d.finished || aborted || !d.spend(e.Size()) {
			d.mu.Unlock()
			if dropped++; aborted && !d.dropEvent(dropped) {
				return
			}
			continue
		}
		d.run.Events = append(d.run.Events, conformance.Event{Event: e, At: time.Since(d.start), Line: len(d.run.Played), Steps: len(d.run.Steps)})
		for _, o := range d.observations {
			o.Add(e)
		}
		if r, ok := e.Data.(event.SessionReady); ok && r.ProviderSessionID != "" {
			talk.provider = r.ProviderSessionID
		}
		if e.Type() == event.TypeInterrupt && d.run.Scenario.Components != nil {
			d.calls.called[adapters.ToolAskComponent] = true
		}
		talk.seq, d.turns = e.Seq, max(d.turns, e.Turn)
		close(d.changed)
		d.changed = make(chan struct{})
		d.mu.Unlock()
		d.pauseListener(sess)
		d.blockListener()
	}
}

// waitDrained waits for the end of the events after Close.
func (d *director) waitDrained() error {
	if d.waitDone(context.Background(), d.drained, d.env.stepLimit()) {
		return nil
	}
	return fmt.Errorf("close: %w: the events were not closed", errNoReturn)
}
