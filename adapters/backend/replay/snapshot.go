package replay

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/event"
)

// SnapshotVersion is the version of the snapshots that this package reads and
// writes. It changes with their form and with the result of reducing events.
const SnapshotVersion = 2

// ErrSnapshot is returned if a snapshot cannot be used, because it is damaged or of
// another version. Reduce all events instead.
var ErrSnapshot = errors.New("not a snapshot that this version can use")

// snapshot is the state of a reducer. It refers to nodes, messages and components
// by their position from 1 on; 0 is none. Nodes are counted depth first.
type snapshot struct {
	Version   int            `json:"version"`
	Chat      Chat           `json:"chat"` // without messages and components
	Seq       int64          `json:"seq"`
	Last      int            `json:"last_turn,omitzero"`
	Current   int            `json:"current_turn,omitzero"`
	Notes     int            `json:"notes,omitzero"`
	Number    int            `json:"number,omitzero"`
	First     int            `json:"first"`
	Failed    bool           `json:"failed,omitzero"`
	Ended     bool           `json:"ended,omitzero"`
	Uncounted bool           `json:"uncounted,omitzero"`
	Turns     []turnState    `json:"turns,omitempty"`
	Messages  []messageState `json:"messages,omitempty"`
	Agents    map[string]int `json:"agents,omitempty"`
	Spawns    map[string]int `json:"spawns,omitempty"`
	Asks      []namedState   `json:"asks,omitempty"`
	Waiting   []namedState   `json:"waiting,omitempty"`
	Detached  []int          `json:"detached,omitempty"`
	Parts     []partState    `json:"parts,omitempty"`
	Shown     []int          `json:"shown,omitempty"`     // Parts, in order
	Updated   map[string]int `json:"updatable,omitempty"` // Parts, by component id
}

type turnState struct {
	N        int           `json:"n"`
	Cause    event.Cause   `json:"cause,omitempty"`
	Start    time.Time     `json:"start,omitzero"`
	Messages []int         `json:"messages,omitempty"`
	Open     int           `json:"open,omitzero"`
	Activity string        `json:"activity,omitempty"`
	Tools    []int         `json:"tools,omitempty"`
	Ended    bool          `json:"ended,omitzero"`
	Reason   string        `json:"reason,omitempty"`
	Text     int           `json:"text,omitzero"`
	Tokens   *event.Tokens `json:"tokens,omitzero"`
	Cost     *float64      `json:"cost,omitzero"`
	Before   *event.Tokens `json:"before,omitzero"`
	Stats    *event.Stats  `json:"stats,omitzero"`
}

type messageState struct {
	Message Message    `json:"message"` // without Blocks if it is open
	Open    *listState `json:"open,omitzero"`
}

type listState struct {
	Nodes []nodeState `json:"nodes,omitempty"`
	Tail  int         `json:"tail,omitzero"`
	Plan  int         `json:"plan,omitzero"`
}

type nodeState struct {
	Block   Block     `json:"block"`
	Turn    int       `json:"turn,omitzero"`
	Message string    `json:"message,omitempty"`
	Tasked  bool      `json:"tasked,omitzero"`
	Linked  int       `json:"linked,omitzero"`
	Key     *key      `json:"key,omitzero"`
	Kids    listState `json:"kids,omitzero"`
}

type namedState struct {
	Key   key   `json:"key"`
	Nodes []int `json:"nodes"`
}

type partState struct {
	Component Component `json:"component"`
	Node      int       `json:"node,omitzero"`
	Input     event.Raw `json:"input,omitzero"`
	Linked    bool      `json:"linked,omitzero"`
}

var snapshotJSON = json.JoinOptions(json.Deterministic(true), jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))

// Snapshot returns the reducer's state as JSON, with the newest n messages and the
// older ones that hold something open: running sub-agents and tools, unanswered
// questions, components that may be updated. A restored reducer goes on as this one
// does.
func (r *Reducer) Snapshot(n int) ([]byte, error) {
	v := r.View()
	w := &snapshotWriter{nodes: map[*node]int{}, messages: map[*message]int{}, parts: map[*liveComponent]int{}}
	s := &w.s
	s.Version, s.Chat, s.Seq, s.Last, s.Notes, s.Number = SnapshotVersion, v.chat, r.seq, r.lastTurn, r.noteCount, r.lastNumber
	s.Chat.Components, s.Failed, s.Ended, s.Uncounted = nil, r.failed, r.ended, r.uncounted
	first := len(r.open) // number of open messages before the window
	var window []*Message
	for i := v.list.n - 1; i >= 0 && n > 0; i-- {
		if first > 0 && r.open[first-1].place == i {
			first--
		}
		if f := v.list.get(i); f != nil && !f.hidden {
			window = append(window, f.buildMessage())
			n--
		}
	}
	slices.Reverse(window)
	s.First = max(r.firstNumber, 1)
	if len(window) > 0 {
		s.First = max(s.First, window[0].Number)
	} else if r.lastNumber > 0 {
		s.First = r.lastNumber + 1
	}
	for _, m := range r.open {
		for _, k := range m.blocks.nodes {
			w.numberNodes(k)
		}
	}
	rest := r.open
	for _, m := range window {
		for len(rest) > 0 && rest[0].m.Number <= m.Number {
			w.writeOpen(rest[0])
			rest = rest[1:]
		}
		if k := len(s.Messages); k == 0 || s.Messages[k-1].Message.Number != m.Number {
			s.Messages = append(s.Messages, messageState{Message: *m})
		}
	}
	for _, m := range rest {
		w.writeOpen(m)
	}
	w.writeRest(r)
	return json.Marshal(s, snapshotJSON)
}

// snapshotWriter assigns positions to the objects that a snapshot refers to.
type snapshotWriter struct {
	s        snapshot
	nodes    map[*node]int
	messages map[*message]int
	parts    map[*liveComponent]int
}

func (w *snapshotWriter) numberNodes(n *node) {
	if n == nil {
		return
	}
	w.nodes[n] = len(w.nodes) + 1
	for _, kid := range n.kids.nodes {
		w.numberNodes(kid)
	}
}

func (w *snapshotWriter) writeOpen(m *message) {
	list := w.writeList(&m.blocks)
	w.s.Messages = append(w.s.Messages, messageState{Message: m.m, Open: &list})
	w.messages[m] = len(w.s.Messages)
}

func (w *snapshotWriter) writeList(b *blocks) listState {
	var s listState
	for _, n := range b.nodes {
		if n == nil {
			continue
		}
		state := nodeState{Block: n.freezeBlock(), Turn: n.turn, Message: n.message, Tasked: n.tasked, Kids: w.writeList(&n.kids)}
		if n.linked != nil {
			state.Linked = w.writeComponent(n.linked)
		}
		if n.r.blockByKey[n.key] == n {
			k := n.key
			state.Key = &k
		}
		s.Nodes = append(s.Nodes, state)
		if b.tail == n {
			s.Tail = len(s.Nodes)
		}
		if b.plan == n {
			s.Plan = len(s.Nodes)
		}
	}
	return s
}

func (w *snapshotWriter) writeComponent(p *liveComponent) int {
	if w.parts[p] == 0 {
		w.s.Parts = append(w.s.Parts, partState{Component: p.c, Node: w.nodes[p.node], Input: p.input, Linked: p.reg != nil})
		w.parts[p] = len(w.s.Parts)
	}
	return w.parts[p]
}

// writeRest writes all state outside of messages.
func (w *snapshotWriter) writeRest(r *Reducer) {
	s := &w.s
	if r.current != nil {
		s.Current = r.current.n
	}
	for _, t := range r.turns {
		state := turnState{
			N: t.n, Cause: t.cause, Start: t.start, Open: w.messages[t.message], Activity: t.activity,
			Ended: t.ended, Reason: t.reason, Text: t.textBlocks, Tokens: t.tokens, Cost: t.startCost, Before: t.before, Stats: t.stats,
		}
		for _, m := range t.messages {
			state.Messages = append(state.Messages, w.messages[m])
		}
		for _, n := range t.tools {
			if n.running() {
				state.Tools = append(state.Tools, w.nodes[n])
			}
		}
		s.Turns = append(s.Turns, state)
	}
	slices.SortFunc(s.Turns, func(a, b turnState) int { return a.N - b.N })
	s.Agents, s.Spawns = w.nodeNumbers(r.agents), w.nodeNumbers(r.spawns)
	for k, n := range r.questions {
		s.Asks = append(s.Asks, namedState{k, []int{w.nodes[n]}})
	}
	for k, list := range r.waiting {
		state := namedState{Key: k}
		for _, n := range list {
			state.Nodes = append(state.Nodes, w.nodes[n])
		}
		s.Waiting = append(s.Waiting, state)
	}
	byKey := func(a, b namedState) int {
		return cmp.Or(cmp.Compare(a.Key.Agent, b.Key.Agent), cmp.Compare(a.Key.Kind, b.Key.Kind), cmp.Compare(a.Key.ID, b.Key.ID))
	}
	slices.SortFunc(s.Asks, byKey)
	slices.SortFunc(s.Waiting, byKey)
	for n := range r.detached {
		s.Detached = append(s.Detached, w.nodes[n])
	}
	slices.Sort(s.Detached)
	for _, p := range r.components {
		s.Shown = append(s.Shown, w.writeComponent(p))
	}
	if len(r.componentByID) > 0 {
		s.Updated = map[string]int{}
		for id, p := range r.componentByID {
			s.Updated[id] = w.writeComponent(p)
		}
	}
}

func (w *snapshotWriter) nodeNumbers(nodes map[string]*node) map[string]int {
	if len(nodes) == 0 {
		return nil
	}
	out := map[string]int{}
	for id, n := range nodes {
		out[id] = w.nodes[n]
	}
	return out
}

func errSnapshot(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrSnapshot, fmt.Sprintf(format, args...))
}
