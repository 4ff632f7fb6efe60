package logtest

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/turnspec/turnspec/adapters/backend/eventlog"
	"github.com/turnspec/turnspec/adapters/event"
)

var began = time.Date(2026, 11, 21, 10, 0, 0, 123456789, time.UTC)

const perTurn = 10 // events in a turn

// sampleEvent returns the event of a session at a seq: session_ready, and then turns
// with a user message, text, reasoning and a tool. The events of a turn are within
// a millisecond, at equal or slightly different times.
func sampleEvent(session string, seq int64) event.Event {
	e := event.Event{SessionID: session, Seq: seq, TS: began}
	if seq == 1 {
		e.Data = event.SessionReady{SessionID: session, Runtime: "codex", ProviderSessionID: "thread of " + session}
		return e
	}
	turn := (seq - 2) / perTurn
	e.Turn = int(turn) + 1
	e.TS = began.Add(time.Duration(turn)*time.Second + time.Duration((seq-2)%perTurn/4)*time.Microsecond)
	id := func(what string) string { return fmt.Sprintf("%s-%d", what, turn) }
	switch (seq - 2) % perTurn {
	case 0:
		e.Data = event.TurnStart{Cause: event.CauseUser, MessageIDs: []string{id("m")}}
	case 1:
		e.Data = event.UserMessage{MessageID: id("m"), Text: fmt.Sprintf("\n  Question %d of %s? ", turn+1, session), Via: event.ViaTurn}
	case 2:
		e.Data = event.Thinking{Text: "Dänk\u2028 \"it\" over\t\U0001F914\x00", BlockID: id("r")}
	case 3:
		e.Data = event.Thinking{Done: true, BlockID: id("r")}
	case 4:
		e.Data = event.ToolStart{ToolUseID: id("t"), Tool: "Bash", Command: "ls", Input: event.Raw(`{"b":1.0,"a":[12345678901234567890],"b2":"\u00e4"}`)}
	case 5:
		e.Data, e.SubagentID = event.ToolOutput{ToolUseID: id("t"), Text: "a\nb\n"}, "sub"
	case 6:
		e.Data = event.ToolResult{ToolUseID: id("t"), Output: "a\nb\n", Status: event.ToolOK}
	case 7:
		e.Data = event.Delta{Text: fmt.Sprintf("word %d ", seq), MessageID: id("a"), BlockID: id("b")}
	case 8:
		e.Data = event.BlockEnd{BlockID: id("b"), Status: event.BlockComplete}
	case 9:
		e.Data = event.Done{}
	}
	return e
}

// sampleEvents returns the events of a session from one seq to another.
func sampleEvents(session string, from, to int64) []event.Event {
	var out []event.Event
	for seq := from; seq <= to; seq++ {
		out = append(out, sampleEvent(session, seq))
	}
	return out
}

// bigDelta returns a delta of size bytes.
func bigDelta(session string, seq int64, size int) event.Event {
	return event.Event{
		SessionID: session, Seq: seq, TS: began, Turn: 1,
		Data: event.Delta{Text: strings.Repeat("x", size), MessageID: "a", BlockID: "b"},
	}
}

// compareEvent returns an error if the JSON forms of two events differ.
func compareEvent(got, want event.Event) error {
	a, err := got.AppendJSON(nil)
	if err != nil {
		return err
	}
	b, err := want.AppendJSON(nil)
	if err != nil {
		return err
	}
	if !bytes.Equal(a, b) {
		return fmt.Errorf("want %s\n got %s", shorten(b), shorten(a))
	}
	return nil
}

// shorten cuts an event for an error message.
func shorten(b []byte) string {
	const most = 400
	if len(b) > most {
		return fmt.Sprintf("%s… (%d bytes)", b[:most], len(b))
	}
	return string(b)
}

// compareEvents returns an error if the events differ.
func compareEvents(got, want []event.Event) error {
	for i := range min(len(got), len(want)) {
		if err := compareEvent(got[i], want[i]); err != nil {
			return fmt.Errorf("event %d of %d: %w", i+1, len(want), err)
		}
	}
	if len(got) != len(want) {
		return fmt.Errorf("want %d events, got %d", len(want), len(got))
	}
	return nil
}

// mustAppend ends the check if the append fails.
func (p *probe) mustAppend(log eventlog.Log, events ...event.Event) {
	p.noError(log.Append(p.ctx, events...), "append")
}

// readAll reads a session to its end.
func (p *probe) readAll(log eventlog.Log, session string, after int64, limit int) []event.Event {
	const most = 1_000_000
	var out []event.Event
	for {
		page, err := log.Read(p.ctx, session, after, limit)
		p.noError(err, fmt.Sprintf("read session %q after %d", session, after))
		if len(page) == 0 {
			return out
		}
		if limit > 0 && len(page) > limit {
			p.failf("read with limit %d gave %d events", limit, len(page))
		}
		out = append(out, page...)
		if after = page[len(page)-1].Seq; len(out) > most {
			p.failf("session %q has no end: %d events read", session, len(out))
		}
	}
}

// wantEvents ends the check if a session does not have exactly these events.
func (p *probe) wantEvents(log eventlog.Log, session string, want []event.Event) {
	if err := compareEvents(p.readAll(log, session, 0, 0), want); err != nil {
		p.failf("session %q: %w", session, err)
	}
}

// wantError ends the check if err is not of type E.
func wantError[E error](p *probe, err error, what string) E {
	got, ok := errors.AsType[E](err)
	if !ok {
		p.failf("%s: want a %T, got %v", what, got, err)
	}
	return got
}
