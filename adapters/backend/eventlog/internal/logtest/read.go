package logtest

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/turnspec/turnspec/adapters/backend/eventlog"
	"github.com/turnspec/turnspec/adapters/event"
)

func sessionsApart(p *probe) {
	log := p.openLog()
	names := []string{"a", "A", "a ", "ä", "a'; --", strings.Repeat("long", 100), "1", "a%"}
	var mixed []event.Event
	for seq := int64(1); seq <= 15; seq++ {
		for _, name := range names {
			mixed = append(mixed, sampleEvent(name, seq))
		}
	}
	p.mustAppend(log, mixed[:50]...)
	p.mustAppend(log, mixed[50:]...)
	for _, name := range names {
		p.wantEvents(log, name, sampleEvents(name, 1, 15))
		if last := p.lastSeq(log, name); last != 15 {
			p.failf("session %q ends at 15, Session returns %d", name, last)
		}
	}
	infos, err := log.Sessions(p.ctx)
	p.noError(err, "Sessions")
	if len(infos) != len(names) {
		p.failf("want %d sessions, got %d", len(names), len(infos))
	}
}

func sessionInfo(p *probe) {
	log := p.openLog()
	p.mustAppend(log, sampleEvents("early", 1, 1)...)
	p.mustAppend(log, sampleEvents("s", 1, 15)...)
	again := event.Event{
		SessionID: "early", Seq: 2, TS: began.Add(time.Hour),
		Data: event.SessionReady{SessionID: "early", Runtime: "claude", ProviderSessionID: "another", Resumed: true},
	}
	unnamed := event.Event{SessionID: "early", Seq: 3, TS: began.Add(2 * time.Hour), Turn: 4, Data: event.SessionReady{SessionID: "early", Runtime: "claude"}}
	late := event.Event{SessionID: "early", Seq: 4, TS: began.Add(3 * time.Hour), Turn: 2, SubagentID: "x", Data: event.UserMessage{MessageID: "m", Text: "not the user's", Via: event.ViaTurn}}
	p.mustAppend(log, again, unnamed, late)
	want := []eventlog.Info{
		{
			SessionID: "early", Runtime: "claude", ProviderSessionID: "another",
			First: began, Latest: began.Add(3 * time.Hour), Last: event.Position{Seq: 4, Turn: 4},
		},
		{
			SessionID: "s", Runtime: "codex", ProviderSessionID: "thread of s", Title: "Question 1 of s?",
			First: began, Latest: sampleEvent("s", 15).TS, Last: event.Position{Seq: 15, Turn: 2},
		},
	}
	got, err := log.Sessions(p.ctx)
	p.noError(err, "Sessions")
	if !slices.EqualFunc(got, want, sameInfo) {
		p.failf("Sessions:\nwant %+v\n got %+v", want, got)
	}
	for _, w := range want {
		got, err := log.Session(p.ctx, w.SessionID)
		p.noError(err, "Session")
		if !sameInfo(got, w) {
			p.failf("Session %s:\nwant %+v\n got %+v", w.SessionID, w, got)
		}
	}
}

// sameInfo compares two infos, and their times as instants.
func sameInfo(a, b eventlog.Info) bool {
	ok := a.First.Equal(b.First) && a.Latest.Equal(b.Latest)
	a.First, a.Latest, b.First, b.Latest = time.Time{}, time.Time{}, time.Time{}, time.Time{}
	return ok && a == b
}

func sessionUnknown(p *probe) {
	log := p.openLog()
	for seq := range int64(2) {
		if events, err := log.Read(p.ctx, "none", 0, 0); err != nil || len(events) > 0 {
			p.failf("Read: want nothing, got %d events, %v", len(events), err)
		}
		if _, err := log.Session(p.ctx, "none"); !errors.Is(err, eventlog.ErrUnknownSession) {
			p.failf("Session: want ErrUnknownSession, got %v", err)
		}
		if seq, data, err := log.Snapshot(p.ctx, "none", "k", 5); seq != 0 || data != nil || err != nil {
			p.failf("Snapshot: want nothing, got %d, %q, %v", seq, data, err)
		}
		p.mustAppend(log, sampleEvent("s", seq+1)) // the second time another session exists
	}
	infos, err := log.Sessions(p.ctx)
	p.noError(err, "Sessions")
	if len(infos) != 1 {
		p.failf("want the one session that exists, got %v", infos)
	}
}

func readCursor(p *probe) {
	log := p.openLog()
	const n = 2*eventlog.PageEvents + 7
	want := sampleEvents("s", 1, n)
	p.mustAppend(log, want...)
	p.mustAppend(log, sampleEvents("z", 1, 5)...) // directly after s if a store orders by name
	for _, after := range []int64{-3, eventlog.PageEvents, n - 2, n, n + 5, 1 << 60} {
		for _, limit := range []int{0, 1, 100, 1 << 30} {
			if limit == 1 && after < n-2 {
				continue // avoid hundreds of reads
			}
			rest := want[min(max(after, 0), n):]
			if err := compareEvents(p.readAll(log, "s", after, limit), rest); err != nil {
				p.failf("after %d in pages of %d: %w", after, limit, err)
			}
		}
	}
}

func readBounded(p *probe) {
	log := p.openLog()
	const each, n = 512 << 10, 12
	var want []event.Event
	for seq := int64(1); seq <= n; seq++ {
		want = append(want, bigDelta("s", seq, each))
		p.mustAppend(log, want[seq-1])
	}
	page, err := log.Read(p.ctx, "s", 0, 0)
	p.noError(err, "Read")
	if len(page) > 8 {
		p.failf("a page without a limit has %d events of half a MiB", len(page))
	}
	p.wantEvents(log, "s", want)
}
