package replay

import (
	"slices"

	"github.com/go-json-experiment/json"
)

// Restore returns the reducer of a snapshot, without the messages that Snapshot
// left out. Add the events after Seq to it. The options are those of New. It
// returns ErrSnapshot if the snapshot is damaged or of another version.
func Restore(data []byte, options ...Option) (*Reducer, error) {
	var s snapshot
	var head struct {
		Version int `json:"version"`
	}
	if err := json.Unmarshal(data, &head, snapshotJSON); err != nil {
		return nil, errSnapshot("%v", err)
	}
	if head.Version != SnapshotVersion {
		return nil, errSnapshot("version %d, want %d", head.Version, SnapshotVersion)
	}
	if err := json.Unmarshal(data, &s, snapshotJSON); err != nil {
		return nil, errSnapshot("%v", err)
	}
	r := New(options...)
	r.beginSession(s.Chat.SessionID)
	r.chat, r.seq, r.lastTurn, r.firstNumber, r.noteCount, r.lastNumber, r.failed, r.ended, r.uncounted = s.Chat, s.Seq, s.Last, s.First, s.Notes, s.Number, s.Failed, s.Ended, s.Uncounted
	r.chat.Tasks, r.chat.Activity, r.chat.Status = nil, "", ""
	for _, t := range s.Chat.Tasks {
		r.tasks, r.taskByID[t.ID], r.tasksChanged = append(r.tasks, &t), &t, true
	}
	read := &snapshotReader{r: r}
	for range s.Parts {
		read.parts = append(read.parts, &liveComponent{})
	}
	for _, m := range s.Messages {
		read.restoreMessage(m)
	}
	read.readRest(&s)
	if read.bad != nil {
		return nil, read.bad
	}
	return r, nil
}

// snapshotReader resolves the references of a snapshot. One that cannot be resolved
// sets bad.
type snapshotReader struct {
	r        *Reducer
	nodes    []*node
	messages []*message // nil if sealed
	parts    []*liveComponent
	bad      error
}

// refAt returns the element at position i of a list, from 1 on.
func refAt[T any](read *snapshotReader, list []*T, i int) *T {
	if i < 1 || i > len(list) || list[i-1] == nil {
		read.bad = errSnapshot("no %T at %d", list, i)
		return new(T)
	}
	return list[i-1]
}

func (read *snapshotReader) restoreMessage(s messageState) {
	r := read.r
	if s.Open == nil {
		walkBlocks(s.Message.Blocks, func(b *Block) {
			if !hasPayload(b) {
				read.bad = errSnapshot("message %d has a block that is not a %s", s.Message.Number, b.Kind)
			}
		})
		f := &frozenMessage{head: s.Message}
		f.once.Do(func() {})
		r.messages.setAt(r.own, r.messages.n, f)
		r.newest = nil
		read.messages = append(read.messages, nil)
		return
	}
	m := &message{r: r, m: s.Message, place: r.messages.n}
	m.m.Blocks = nil
	m.blocks.msg = m
	r.messages.setAt(r.own, m.place, nil)
	read.messages = append(read.messages, m)
	read.readList(&m.blocks, s.Open)
	r.open, r.newest = append(r.open, m), nil
	if m.m.Number == r.lastNumber {
		r.newest = m // not if later messages were left out
	}
	m.markStale()
}

func (read *snapshotReader) readList(b *blocks, s *listState) {
	for i := range s.Nodes {
		state := &s.Nodes[i]
		n := &node{r: read.r, block: state.Block, turn: state.Turn, message: state.Message, tasked: state.Tasked}
		read.nodes = append(read.nodes, n)
		n.kids.parent = n
		if !hasPayload(&n.block) || state.Key != nil && state.Key.Kind != n.block.Kind {
			read.bad = errSnapshot("block %d is not a %s", len(read.nodes), n.block.Kind)
			return
		}
		text := &n.block.Text
		if n.block.Kind == KindTool {
			text = &n.block.Tool.Output
			if n.block.Status == Writing {
				text = &n.block.Tool.InputText
			}
		}
		n.text.WriteString(*text)
		*text = ""
		if state.Key != nil {
			read.r.indexBlock(n, *state.Key)
		}
		if state.Linked > 0 && read.r.registry != nil {
			n.linked = refAt(read, read.parts, state.Linked)
		}
		n.moveTo(b)
		read.readList(&n.kids, &state.Kids)
	}
	if s.Tail > 0 {
		b.tail = refAt(read, b.nodes, s.Tail)
	}
	if s.Plan > 0 {
		b.plan = refAt(read, b.nodes, s.Plan)
	}
}

// hasPayload reports if a block has the field of its kind.
func hasPayload(b *Block) bool {
	switch b.Kind {
	case KindTool:
		return b.Tool != nil
	case KindSubagent:
		return b.Subagent != nil
	case KindPermission:
		return b.Permission != nil
	case KindInterrupt:
		return b.Interrupt != nil
	case KindNotice:
		return b.Notice != nil
	case KindComponent:
		return b.Component != nil
	case KindError:
		return b.Error != nil
	}
	return true
}

// nodeAt returns the block at position i, which must be of one of the kinds.
func (read *snapshotReader) nodeAt(i int, kinds ...Kind) *node {
	n := refAt(read, read.nodes, i)
	if read.bad == nil && !slices.Contains(kinds, n.block.Kind) {
		read.bad = errSnapshot("block %d is a %s, want %v", i, n.block.Kind, kinds)
	}
	return n
}

func (read *snapshotReader) readRest(s *snapshot) {
	r := read.r
	for _, state := range s.Turns {
		t := &turn{
			n: state.N, cause: state.Cause, start: state.Start, activity: state.Activity,
			ended: state.Ended, reason: state.Reason, textBlocks: state.Text, tokens: state.Tokens, startCost: state.Cost, before: state.Before, stats: state.Stats,
		}
		for _, i := range state.Messages {
			t.messages = append(t.messages, refAt(read, read.messages, i))
		}
		if state.Open > 0 {
			t.message = refAt(read, read.messages, state.Open)
		}
		for _, i := range state.Tools {
			n := read.nodeAt(i, KindTool)
			n.listed = true
			t.tools = append(t.tools, n)
		}
		r.turns[t.n] = t
		if !t.ended {
			r.openTurns++
		}
	}
	if s.Current > 0 {
		if r.current = r.turns[s.Current]; r.current == nil {
			read.bad = errSnapshot("no turn %d", s.Current)
		}
	}
	for id, i := range s.Agents {
		r.agents[id] = read.nodeAt(i, KindSubagent)
	}
	for id, i := range s.Spawns {
		r.spawns[id] = read.nodeAt(i, KindTool)
	}
	for _, a := range s.Asks {
		for _, i := range a.Nodes {
			r.questions[a.Key] = read.nodeAt(i, KindPermission, KindInterrupt)
		}
	}
	for _, a := range s.Waiting {
		for _, i := range a.Nodes {
			r.waiting[a.Key] = append(r.waiting[a.Key], read.nodeAt(i, KindSubagent))
		}
	}
	for _, i := range s.Detached {
		r.detached[read.nodeAt(i, KindTool)] = struct{}{}
	}
	for i, state := range s.Parts {
		p := read.parts[i]
		p.c, p.input = state.Component, state.Input
		if state.Node > 0 {
			p.node = read.nodeAt(state.Node, KindComponent)
		}
		if state.Linked {
			p.reg = r.registry
		}
	}
	for _, i := range s.Shown {
		r.components = append(r.components, refAt(read, read.parts, i))
	}
	for id, i := range s.Updated {
		r.componentByID[id] = refAt(read, read.parts, i)
	}
}
