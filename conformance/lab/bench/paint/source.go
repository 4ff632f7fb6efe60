package paint

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
)

// source is an adapter without a runtime. A message starts a turn of deltas.
type source struct {
	deltas int
	gap    time.Duration // between two deltas; 0 for as fast as the server takes them

	mu     sync.Mutex
	opened map[string]*sourceSession
}

func (*source) Capabilities() adapters.Capabilities { return adapters.Capabilities{Runtime: "source"} }

func (a *source) Open(_ context.Context, o adapters.Options) (adapters.Session, error) {
	s := &sourceSession{source: a, id: o.SessionID, events: make(chan event.Event, 64), began: map[int64]time.Time{}}
	a.mu.Lock()
	if a.opened == nil {
		a.opened = map[string]*sourceSession{}
	}
	a.opened[s.id] = s
	a.mu.Unlock()
	s.emit(0, event.SessionReady{SessionID: s.id, Runtime: "source"})
	return s, nil
}

func (a *source) session(id string) *sourceSession {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.opened[id]
}

type sourceSession struct {
	source  *source
	id      string
	events  chan event.Event
	running sync.WaitGroup

	mu    sync.Mutex // held while an event is emitted
	seq   int64
	began map[int64]time.Time // when a delta was there to be emitted, by seq
}

func (s *sourceSession) emit(turn int, d event.Data) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seq++
	now := time.Now()
	if _, ok := d.(event.Delta); ok {
		s.began[s.seq] = now
	}
	s.events <- event.Event{Data: d, TS: now.UTC(), Seq: s.seq, SessionID: s.id, Turn: turn}
}

// times returns when each delta was there to be emitted, by seq.
func (s *sourceSession) times() map[int64]time.Time {
	s.running.Wait()
	return s.began
}

func (s *sourceSession) Events() <-chan event.Event { return s.events }

func (s *sourceSession) Send(_ context.Context, m adapters.Message) error {
	s.running.Go(func() {
		s.emit(1, event.TurnStart{Cause: event.CauseUser, MessageIDs: []string{m.ID}})
		s.emit(1, event.UserMessage{MessageID: m.ID, Text: m.Text, Via: event.ViaTurn})
		for i := range s.source.deltas {
			s.emit(1, event.Delta{Text: word(i), MessageID: "answer", BlockID: "answer.0"})
			time.Sleep(s.source.gap)
		}
		s.emit(1, event.BlockEnd{BlockID: "answer.0", Status: event.BlockComplete})
		s.emit(1, event.Done{})
	})
	return nil
}

func (*sourceSession) Stop(context.Context) error { return nil }

func (*sourceSession) Answer(context.Context, string, adapters.Answer) error {
	return adapters.ErrUnsupported
}

func (s *sourceSession) Close(context.Context) error {
	go func() {
		s.running.Wait()
		s.emit(0, event.SessionEnd{Reason: "closed"})
		close(s.events)
	}()
	return nil
}

// word returns the text of a delta: paragraphs of sentences with some Markdown.
func word(i int) string {
	switch {
	case i%120 == 119:
		return fmt.Sprintf("end %d.\n\n", i)
	case i%12 == 11:
		return fmt.Sprintf("**part %d**. ", i)
	}
	return fmt.Sprintf("word %d ", i)
}

// stored returns the events of a session that ended: turns of reasoning, text and tool
// calls, as agents write them.
func stored(id string, count int) []event.Event {
	out := make([]event.Event, 0, count)
	began := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	turn := 0
	add := func(all ...event.Data) {
		for _, d := range all {
			seq := int64(len(out) + 1)
			out = append(out, event.Event{Data: d, TS: began.Add(time.Duration(seq) * 10 * time.Millisecond), Seq: seq, SessionID: id, Turn: turn})
		}
	}
	add(event.SessionReady{SessionID: id, Runtime: "source"})
	for len(out) < count-1 {
		turn++
		message := fmt.Sprintf("m%d", turn)
		add(event.TurnStart{Cause: event.CauseUser, MessageIDs: []string{message}}, event.UserMessage{MessageID: message, Text: fmt.Sprintf("Do part %d.", turn), Via: event.ViaTurn})
		for step := range 3 {
			block, call := fmt.Sprintf("%s.%d", message, step), fmt.Sprintf("%s.call%d", message, step)
			for i := range 25 {
				add(event.Delta{Text: word(turn*100 + step*25 + i), MessageID: block, BlockID: block})
			}
			add(event.BlockEnd{BlockID: block, Status: event.BlockComplete},
				event.ToolStart{ToolUseID: call, Tool: "Bash", Command: fmt.Sprintf("make part-%d", step), Input: event.Raw(fmt.Sprintf(`{"command":"make part-%d"}`, step))},
				event.ToolResult{ToolUseID: call, Output: fmt.Sprintf("made part %d\n", step), Status: event.ToolOK})
		}
		add(event.Done{})
	}
	return out
}
