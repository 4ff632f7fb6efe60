package sidecar

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/turnspec/turnspec/adapters/backend/eventlog"
	"github.com/turnspec/turnspec/adapters/event"
)

// State is the state of a session's last turn.
type State string

// The states.
const (
	StatePending   State = "pending"   // no turn has begun
	StateStreaming State = "streaming" // a turn runs, or a message was accepted that begins one
	StateCompleted State = "completed" // the last turn ended in done
	StateFailed    State = "failed"    // it ended in an error, or the server that ran it is gone
)

// Run is the state of a session, as lists and the feed hold it.
type Run struct {
	SessionID string `json:"session_id"`
	Owner     string `json:"owner,omitempty"` // the user who opened it
	Runtime   string `json:"runtime,omitempty"`
	State     State  `json:"state"`
	Starting  bool   `json:"starting,omitzero"` // a message was accepted, and its turn has not begun
	Turn      int    `json:"turn,omitzero"`
	LastSeq   int64  `json:"last_seq"`
	Live      bool   `json:"live"`             // the session runs on this server
	Idle      bool   `json:"idle,omitzero"`    // its runtime was ended because it was unused: the next message resumes it
	Server    string `json:"server,omitempty"` // another server that runs its turn
	// NeedsInput are the ids of the permission requests and questions that wait for the user, of a session
	// that runs on this server.
	NeedsInput []string  `json:"needs_input,omitempty"`
	Title      string    `json:"title,omitempty"`
	First      time.Time `json:"first,omitzero"`
	Latest     time.Time `json:"latest,omitzero"`
}

// add updates the run with the next event.
func (r *Run) add(e event.Event) {
	r.LastSeq, r.Latest = e.Seq, e.TS
	if r.First.IsZero() {
		r.First = e.TS
	}
	if state := stateAfter(e); state != "" {
		r.State, r.Starting = state, false
	}
	if e.Type() == event.TypeTurnStart {
		r.Turn = e.Turn
	}
	if id, _ := requestOf(e); id != "" {
		r.NeedsInput = append(slices.Clone(r.NeedsInput), id) // lists and the feed hold the old slice
	}
	switch d := e.Data.(type) {
	case event.PermissionResolved:
		r.dropRequest(d.RequestID)
	case event.InterruptResolved:
		r.dropRequest(d.InterruptID)
	case event.SessionReady, event.SessionEnd:
		r.NeedsInput = nil
	}
}

func (r *Run) dropRequest(id string) {
	r.NeedsInput = slices.DeleteFunc(slices.Clone(r.NeedsInput), func(waits string) bool { return waits == id })
}

// stateAfter returns the state that an event puts a session into, or "" if it puts it
// into none.
func stateAfter(e event.Event) State {
	if e.SubagentID != "" {
		return ""
	}
	switch e.Data.(type) {
	case event.TurnStart:
		return StateStreaming
	case event.Done:
		return StateCompleted
	case event.Error:
		return StateFailed
	}
	return ""
}

// storedRun returns the state of a session that does not run here. A turn that has not
// ended in the log failed: the server that ran it is gone.
func (s *Server) storedRun(ctx context.Context, info eventlog.Info) (Run, error) {
	r := Run{
		SessionID: info.SessionID, Runtime: info.Runtime, State: StatePending, Turn: info.Last.Turn, LastSeq: info.Last.Seq,
		Title: info.Title, First: info.First, Latest: info.Latest,
	}
	if info.Last.Turn == 0 {
		return r, nil
	}
	for to := info.Last.Seq; to > 0; to -= eventlog.PageEvents {
		from := max(0, to-eventlog.PageEvents)
		state := State("")
		for e, err := range eventlog.All(ctx, s.c.Log, info.SessionID, from) {
			if err != nil {
				return r, err
			}
			if e.Seq > to {
				break
			}
			if after := stateAfter(e); after != "" {
				state = after
			}
		}
		if state != "" {
			r.State = state
			break
		}
	}
	if r.State == StateStreaming {
		holder, other, err := s.elsewhere(ctx, info.SessionID)
		if err != nil {
			return r, err
		}
		if r.Server = holder.Name; !other {
			r.State, r.Server = StateFailed, ""
		}
	}
	return r, nil
}

// runs returns the state of each session of the caller, the latest first.
func (s *Server) runs(ctx context.Context) ([]Run, error) {
	own, owners, err := s.ownSessions(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]Run, 0, len(own))
	for _, info := range own {
		owner := owners[info.SessionID]
		r, err := s.runOf(ctx, info, owner)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

// runOf returns the state of a session.
func (s *Server) runOf(ctx context.Context, info eventlog.Info, owner string) (Run, error) {
	h := s.running(ctx, info.SessionID)
	if h == nil {
		r, err := s.storedRun(ctx, info)
		r.Owner, r.Idle = owner, s.isIdle(info.SessionID)
		return r, err
	}
	r := h.state()
	r.Title, r.First = info.Title, info.First
	return r, nil
}

// feed sends the newest state of each session that changed to its subscribers. Its
// zero value is ready for use.
type feed struct {
	mu   sync.Mutex
	subs map[*subscriber]bool
}

// subscriber holds the states that a listener of the feed has not received yet: one
// for each session, however slow it is.
type subscriber struct {
	caller  caller
	mu      sync.Mutex
	waiting map[string]Run
	order   []string
	changed chan struct{} // holds a token if something waits
}

func (f *feed) subscribe(c caller) *subscriber {
	sub := &subscriber{caller: c, waiting: map[string]Run{}, changed: make(chan struct{}, 1)}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.subs == nil {
		f.subs = map[*subscriber]bool{}
	}
	f.subs[sub] = true
	return sub
}

func (f *feed) unsubscribe(sub *subscriber) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.subs, sub)
}

func (f *feed) publish(r Run) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for sub := range f.subs {
		sub.put(r)
	}
}

func (sub *subscriber) put(r Run) {
	if !sub.caller.uses(r.Owner) {
		return
	}
	sub.mu.Lock()
	defer sub.mu.Unlock()
	if _, is := sub.waiting[r.SessionID]; !is {
		sub.order = append(sub.order, r.SessionID)
	}
	sub.waiting[r.SessionID] = r
	select {
	case sub.changed <- struct{}{}:
	default:
	}
}

// take returns what waits.
func (sub *subscriber) take() []Run {
	sub.mu.Lock()
	defer sub.mu.Unlock()
	out := make([]Run, 0, len(sub.order))
	for _, id := range sub.order {
		out = append(out, sub.waiting[id])
	}
	clear(sub.waiting)
	sub.order = sub.order[:0]
	return out
}
