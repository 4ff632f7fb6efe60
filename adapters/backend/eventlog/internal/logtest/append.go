package logtest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/turnspec/turnspec/adapters/backend/eventlog"
	"github.com/turnspec/turnspec/adapters/event"
)

const long = 3*perTurn + 5 // a few turns, the last one unfinished

func appendKept(p *probe) {
	log := p.openLog()
	want := sampleEvents("s", 1, long)
	p.mustAppend(log)
	p.mustAppend(log, want[0])
	p.mustAppend(log, want[1:7]...)
	for _, e := range want[7:] {
		p.mustAppend(log, e)
	}
	p.wantEvents(log, "s", want)
	// Events that were read can be appended again.
	p.mustAppend(log, p.readAll(log, "s", 0, 0)...)
	p.wantEvents(log, "s", want)
}

func appendAgain(p *probe) {
	log := p.openLog()
	want := sampleEvents("s", 1, long)
	p.mustAppend(log, want[:20]...)
	p.mustAppend(log, want[:20]...)
	p.mustAppend(log, want[19])
	p.mustAppend(log, want[10:]...) // half of them new
	p.mustAppend(log, append([]event.Event{want[3]}, append(sampleEvents("t", 1, 2), want[4])...)...)
	p.mustAppend(log, append(sampleEvents("u", 1, 3), sampleEvents("u", 2, 4)...)...) // twice in one call
	p.wantEvents(log, "s", want)
	p.wantEvents(log, "t", sampleEvents("t", 1, 2))
	p.wantEvents(log, "u", sampleEvents("u", 1, 4))
}

func appendConflict(p *probe) {
	log := p.openLog()
	want := sampleEvents("s", 1, long)
	p.mustAppend(log, want...)
	for _, seq := range []int64{1, 13, long} {
		other := sampleEvent("s", seq)
		other.TS = other.TS.Add(time.Nanosecond)
		e := wantError[*eventlog.ConflictError](p, log.Append(p.ctx, other), "another event under a seq that is taken")
		if e.Session != "s" || e.Seq != seq {
			p.failf("the conflict is at seq %d of s, the error names %d of %s", seq, e.Seq, e.Session)
		}
	}
	// Within one call.
	other := sampleEvent("s", long+1)
	other.Turn++
	_ = wantError[*eventlog.ConflictError](p, log.Append(p.ctx, sampleEvent("s", long+1), other), "two events under one seq")
	p.wantEvents(log, "s", sampleEvents("s", 1, max(long, p.lastSeq(log, "s"))))
}

func (p *probe) lastSeq(log eventlog.Log, session string) int64 {
	info, err := log.Session(p.ctx, session)
	p.noError(err, "Session")
	return info.Last.Seq
}

func appendGap(p *probe) {
	log := p.openLog()
	gap := func(last int64, events ...event.Event) {
		e := wantError[*eventlog.GapError](p, log.Append(p.ctx, events...), "a seq that leaves events out")
		if seq := events[0].Seq; e.Session != "s" || e.Last != last || e.Seq != seq {
			p.failf("want a gap of session s from %d to %d, got session %s from %d to %d", last, seq, e.Session, e.Last, e.Seq)
		}
	}
	gap(0, sampleEvent("s", 2))
	p.wantEvents(log, "s", nil)
	p.mustAppend(log, sampleEvents("s", 1, long)...)
	gap(long, sampleEvent("s", long+2))
	gap(long, sampleEvents("s", long+7, long+9)...)
	p.wantEvents(log, "s", sampleEvents("s", 1, long))
	p.mustAppend(log, sampleEvent("s", long+1))
	p.wantEvents(log, "s", sampleEvents("s", 1, long+1))
}

func appendInvalid(p *probe) {
	log := p.openLog()
	p.mustAppend(log, sampleEvents("s", 1, 3)...)
	for what, breakEvent := range map[string]func(*event.Event){
		"no data":                      func(e *event.Event) { e.Data = nil },
		"seq 0":                        func(e *event.Event) { e.Seq = 0 },
		"a negative seq":               func(e *event.Event) { e.Seq = -1 },
		"no session":                   func(e *event.Event) { e.SessionID = "" },
		"a session that is not UTF-8":  func(e *event.Event) { e.SessionID = "a\xff" },
		"no time":                      func(e *event.Event) { e.TS = time.Time{} },
		"a negative turn":              func(e *event.Event) { e.Turn = -1 },
		"a delta with a negative turn": func(e *event.Event) { e.Data, e.Turn = event.Delta{Text: "x"}, -1 },
		"a delta without a time":       func(e *event.Event) { e.Data, e.TS = event.Delta{Text: "x"}, time.Time{} },
		"an unknown enum value":        func(e *event.Event) { e.Data = event.TurnStart{Cause: "boredom", MessageIDs: []string{"m"}} },
		"raw JSON that is invalid": func(e *event.Event) {
			e.Data = event.PermissionRequest{RequestID: "r", ToolName: "Bash", ToolInput: event.Raw(`{`)}
		},
		"a delta of a session that is not UTF-8": func(e *event.Event) { e.Data, e.SessionID = event.Delta{Text: "x"}, "\xff" },
	} {
		e := sampleEvent("s", 4)
		breakEvent(&e)
		_ = wantError[*eventlog.InvalidError](p, log.Append(p.ctx, e), what)
		p.wantEvents(log, "s", sampleEvents("s", 1, 3))
	}
	if infos, err := log.Sessions(p.ctx); err != nil || len(infos) != 1 {
		p.failf("want the one session s, got %v, %v", infos, err)
	}
}

func appendPrefix(p *probe) {
	log := p.openLog()
	wrong := sampleEvent("s", 9)
	wrong.Data = nil
	other := sampleEvent("s", 3)
	other.Turn = 7
	after := int64(0)
	for _, bad := range []struct { // only the last one may find events stored
		what   string
		events []event.Event
	}{
		{"gap", append(sampleEvents("s", 1, 8), sampleEvent("s", 10))},
		{"conflict", append(sampleEvents("s", 1, 8), other, sampleEvent("s", 9))},
		{"invalid", append(sampleEvents("s", 1, 8), wrong)},
	} {
		what := bad.what
		if err := log.Append(p.ctx, bad.events...); err == nil {
			p.failf("%s: no error", what)
		}
		got := p.readAll(log, "s", 0, 0)
		if err := compareEvents(got, sampleEvents("s", 1, int64(len(got)))); err != nil || len(got) > 8 {
			p.failf("%s: the stored events are not a prefix of the append: %d events, %w", what, len(got), err)
		}
		if n := int64(len(got)); n < after {
			p.failf("%s: there were %d events, and now %d", what, after, n)
		} else {
			after = n
		}
	}
	p.mustAppend(log, sampleEvents("s", 1, 12)...)
	p.wantEvents(log, "s", sampleEvents("s", 1, 12))
}

func appendCopies(p *probe) {
	log := p.openLog()
	events := sampleEvents("s", 1, 6)
	input := []byte(`{"command":"ls"}`)
	for i := range events {
		if d, ok := events[i].Data.(event.ToolStart); ok {
			d.Input = input
			events[i].Data = d
		}
	}
	want, err := eventlog.Encode(events[5])
	p.noError(err, "encode")
	p.mustAppend(log, events...)
	copy(input, `{"command":"rm"}`)
	clear(events[:5])
	got := p.readAll(log, "s", 0, 0)
	if len(got) != 6 {
		p.failf("want 6 events, got %d", len(got))
	}
	for range 2 { // the second time after the returned events were modified
		b, err := eventlog.Encode(got[5])
		p.noError(err, "encode")
		if string(b) != string(want) {
			p.failf("the stored event changed with the caller's buffer:\nwant %s\n got %s", want, b)
		}
		if d, ok := got[5].Data.(event.ToolStart); ok {
			clear(d.Input)
		}
		got = p.readAll(log, "s", 0, 0)
	}
}

func appendConcurrent(p *probe) {
	log := p.openLog()
	const writers, each = 8, 60
	errs := make(chan error, 3*writers)
	var group sync.WaitGroup
	write := func(session string, step int64) {
		group.Go(func() {
			for seq := int64(1); seq <= each; seq += step {
				if err := log.Append(p.ctx, sampleEvents(session, seq, min(seq+step-1, each))...); err != nil {
					errs <- fmt.Errorf("session %s at %d: %w", session, seq, err)
					return
				}
			}
		})
	}
	for i := range int64(writers) {
		write(fmt.Sprint("own ", i), i+1)
		write("shared", i+1) // all append the same events
	}
	group.Wait()
	select {
	case err := <-errs:
		p.failf("append: %w", err)
	default:
	}
	p.wantEvents(log, "shared", sampleEvents("shared", 1, each))
	for i := range writers {
		session := fmt.Sprint("own ", i)
		p.wantEvents(log, session, sampleEvents(session, 1, each))
	}
}

func appendCancelled(p *probe) {
	log := p.openLog()
	p.mustAppend(log, sampleEvents("s", 1, 3)...)
	ctx, cancel := context.WithCancel(p.ctx)
	cancel()
	if err := log.Append(ctx, sampleEvents("s", 4, 5)...); !errors.Is(err, context.Canceled) {
		p.failf("want context.Canceled, got %v", err)
	}
	got := p.readAll(log, "s", 0, 0)
	if err := compareEvents(got, sampleEvents("s", 1, int64(len(got)))); err != nil || len(got) < 3 {
		p.failf("%d events are stored: %w", len(got), err)
	}
	p.mustAppend(log, sampleEvents("s", 1, 6)...)
	p.wantEvents(log, "s", sampleEvents("s", 1, 6))
}
