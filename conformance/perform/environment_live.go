package perform

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fakes/model"
	"github.com/turnspec/turnspec/fixtures"
)

// Real is a real runtime, ready to be started, and the scripted model that it
// talks to.
type Real struct {
	Runtime string
	Version string
	Command []string // the native program
	Args    []string // what points it at the model
	Env     []string // its whole environment
	Dir     string   // the working directory, filled with the scenario's files
	Model   *model.Server
	Slug    string // the model to ask for; "" is the default
	// Unprompted is how many turns the runtime began by itself when the scenario
	// was recorded: the end of a live run waits for as many.
	Unprompted int
}

// liveLimit bounds, in real time, how long a wait or an act of a live run may
// take. It is generous: a machine may be slow, a hang is for ever.
const liveLimit = 60 * time.Second

// Live lets a subject drive the real runtime through a scenario.
func Live(ctx context.Context, s conformance.Subject, scn *fixtures.Scenario, on Real) *conformance.Run {
	r := &conformance.Run{Tier: conformance.TierLive, Subject: s.Name(), Runtime: on.Runtime, Version: on.Version, Scenario: scn}
	st := &liveStage{ctx: ctx, real: on, watch: watcher{Launcher: proc.Exec{}}}
	d := &director{run: r, subject: s, stage: st, start: time.Now()}
	st.d = d
	d.perform(ctx)
	_ = on.Model.Close() // no handler runs any more: the witness is whole
	r.Witness = on.Model.Witness()
	if ids := st.watch.found(); len(ids) == len(r.Opens) {
		for i, id := range ids {
			r.Opens[i].Provider = id
		}
	}
	if err := on.Model.Err(); err != nil {
		r.Hang = "the scripted model refused a request: " + err.Error()
	}
	r.Workspace = readTree(on.Dir)
	return r
}

// Unprompted counts the requests of turns that the runtime began by itself.
func Unprompted(witness []fixtures.Request) int {
	n := 0
	for _, q := range witness {
		if slices.Contains(q.New, "task") {
			n++
		}
	}
	return n
}

func readTree(dir string) map[string][]byte {
	out := map[string][]byte{}
	_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return nil //nolint:nilerr // what cannot be read is not in the result
		}
		if b, err := os.ReadFile(path); err == nil { //nolint:gosec // a folder of our own
			if rel, err := filepath.Rel(dir, path); err == nil {
				out[filepath.ToSlash(rel)] = b
			}
		}
		return nil
	})
	return out
}

// liveStage waits for what the subject's events and the model say.
type liveStage struct {
	ctx   context.Context
	real  Real
	d     *director
	watch watcher
}

func (l *liveStage) open(o conformance.Open) (conformance.Open, error) {
	o.Launch = &l.watch
	o.Command, o.Args, o.Env, o.Dir = l.real.Command, l.real.Args, l.real.Env, l.real.Dir
	o.Model = cmp.Or(o.Model, l.real.Slug)
	return o, nil
}

func (l *liveStage) provider() string       { return "" } // the runtime tells later: see watcher
func (l *liveStage) before(fixtures.Step)   {}
func (l *liveStage) finished(fixtures.Step) {}
func (l *liveStage) limit() time.Duration   { return liveLimit }
func (l *liveStage) virtual() bool          { return false }
func (l *liveStage) unread() int            { return -1 }

func (l *liveStage) until(done <-chan struct{}) bool {
	t := time.NewTimer(stillness)
	defer t.Stop()
	select {
	case <-done:
		return true
	case <-t.C:
	}
	return false
}

// stillness is how long a live run must be silent for nothing to move any more,
// also when it was cancelled: what was begun is given the time to end.
// The director has its own, longer limits for what it then waits for.
const stillness = time.Second

func (l *liveStage) perform(act fixtures.Step) (bool, error) {
	switch act.Verb {
	case fixtures.VerbRelease:
		l.real.Model.Release(act.ID)
		return true, nil
	case fixtures.VerbKill:
		return true, l.watch.signal(proc.Signal(act.What))
	case fixtures.VerbWrite:
		path := filepath.Join(l.real.Dir, filepath.FromSlash(act.ID))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return true, err
		}
		return true, os.WriteFile(path, []byte(act.Text), 0o644)
	}
	return false, nil
}

// look is how often a wait looks at what nothing announces: files.
const look = 5 * time.Millisecond

func (l *liveStage) reach(act fixtures.Step) error {
	deadline := time.NewTimer(liveLimit)
	defer deadline.Stop()
	tick := time.NewTicker(look)
	defer tick.Stop()
	for {
		model := l.real.Model.Changed()
		l.d.mu.Lock()
		events := l.d.changed
		ok := l.reached(act)
		l.d.mu.Unlock()
		if ok {
			return nil
		}
		if err := l.real.Model.Err(); err != nil {
			return err
		}
		select {
		case <-model:
		case <-events:
		case <-tick.C:
		case <-l.ctx.Done():
			return l.ctx.Err()
		case <-deadline.C:
			return fmt.Errorf("wait %s: not reached within %v; %s", strings.TrimSpace(act.What+" "+act.ID), liveLimit, l.standing())
		}
	}
}

// standing says where a run stands that does not go on.
func (l *liveStage) standing() string {
	l.d.mu.Lock()
	defer l.d.mu.Unlock()
	var b strings.Builder
	fmt.Fprintf(&b, "%d events so far, the last:", len(l.d.run.Events))
	for _, e := range l.d.run.Events[max(0, len(l.d.run.Events)-5):] {
		fmt.Fprintf(&b, " %s", e.Type())
		if e.Turn > 0 {
			fmt.Fprintf(&b, " (turn %d)", e.Turn)
		}
	}
	witness := l.real.Model.Witness()
	fmt.Fprintf(&b, "; the model was asked %d times", len(witness))
	if n := len(witness); n > 0 {
		ended := witness[n-1].Ended
		if ended == "" {
			ended = "open"
		}
		fmt.Fprintf(&b, ", the last request brought %v and is %s", witness[n-1].New, ended)
	}
	return b.String()
}

// reached is called with the director's lock held.
func (l *liveStage) reached(act fixtures.Step) bool {
	events := l.d.run.Events
	switch act.What {
	case "hold":
		said, ok := l.real.Model.Holding(act.ID)
		text, think := saidSoFar(events)
		return ok && (l.d.run.Scenario.InSummary(act.ID) || strings.HasSuffix(text, said.Text) && strings.HasSuffix(think, said.Think))
	case "retry":
		return slices.ContainsFunc(events, func(e conformance.Event) bool {
			n, ok := e.Data.(event.Notice)
			return ok && n.Code == event.NoticeRetry
		})
	case "ask":
		_, ok := l.d.question(act)
		return ok
	case "tool", "output", "result", "task":
		return sawTool(events, act)
	case "call":
		return l.d.calls.called[act.ID]
	case "file":
		_, err := os.Stat(filepath.Join(l.real.Dir, filepath.FromSlash(act.ID)))
		return err == nil
	case "end":
		return messageEnded(events, act.ID)
	case "exit":
		return true // the director sees the end
	case "idle":
		return l.idle(events, act.Line == 0)
	}
	return false
}

// deltas is all text, of sub-agents too.
// saidSoFar is the text and the reasoning so far.
func saidSoFar(events []conformance.Event) (text, think string) {
	var said, thought strings.Builder
	for _, e := range events {
		switch d := e.Data.(type) {
		case event.Delta:
			said.WriteString(d.Text)
		case event.Thinking:
			thought.WriteString(d.Text)
		}
	}
	return said.String(), thought.String()
}

func sawTool(events []conformance.Event, act fixtures.Step) bool {
	is := func(id string) bool { return id == act.ID || strings.HasSuffix(id, "_"+act.ID) }
	for _, e := range events {
		switch d := e.Data.(type) {
		case event.ToolStart:
			if act.What == "tool" && is(d.ToolUseID) {
				return true
			}
		case event.ToolOutput:
			if act.What == "output" && is(d.ToolUseID) {
				return true
			}
		case event.ToolResult:
			if act.What == "result" && is(d.ToolUseID) {
				return true
			}
		case event.Task:
			if act.What == "task" && is(d.ToolUseID) && d.Status != event.TaskRunning {
				return true
			}
		}
	}
	return false
}

// messageEnded reports whether the turn that took the message has ended.
func messageEnded(events []conformance.Event, id string) bool {
	turn := 0
	for _, e := range events {
		switch d := e.Data.(type) {
		case event.TurnStart:
			for _, m := range d.MessageIDs {
				if m == id {
					turn = e.Turn
				}
			}
		case event.UserMessage:
			if d.MessageID == id && e.Turn > 0 {
				turn = e.Turn
			}
		}
		if turn > 0 && e.Turn == turn && e.Terminal() && e.SubagentID == "" {
			return true
		}
	}
	return false
}

// idle: no turn runs, no message waits, nothing lives in the background, and
// the model answers nobody. At the end of the scenario the runtime must also
// have begun as many turns by itself as it did when it was recorded: such a
// turn comes a moment after what causes it.
func (l *liveStage) idle(events []conformance.Event, last bool) bool {
	if !allEnded(events) {
		return false
	}
	for _, a := range l.d.run.Steps {
		if a.Step.Verb == fixtures.VerbSend && a.Err == nil && !withdrawn(l.d.run.Scenario, a.Step.ID) && !messageEnded(events, a.Step.ID) {
			return false
		}
	}
	for _, q := range l.real.Model.Witness() {
		if q.Ended == "" {
			return false
		}
	}
	return !last || Unprompted(l.real.Model.Witness()) >= l.real.Unprompted
}

// allEnded reports whether no turn and no task runs.
func allEnded(events []conformance.Event) bool {
	turns := map[int]bool{}
	tasks := map[string]bool{}
	for _, e := range events {
		switch d := e.Data.(type) {
		case event.TurnStart:
			turns[e.Turn] = true
		case event.Task:
			tasks[d.TaskID] = d.Status == event.TaskRunning
		}
		if e.Terminal() && e.SubagentID == "" {
			delete(turns, e.Turn)
		}
	}
	for _, running := range tasks {
		if running {
			return false
		}
	}
	return len(turns) == 0
}
