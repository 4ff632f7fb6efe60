package logtest

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/turnspec/turnspec/adapters/backend/eventlog"
)

func (p *probe) wantSnapshot(log eventlog.Log, session, kind string, at, wantSeq int64, want []byte) {
	seq, data, err := log.Snapshot(p.ctx, session, kind, at)
	p.noError(err, "Snapshot")
	if seq != wantSeq || !bytes.Equal(data, want) {
		p.failf("snapshot %q of %q at or before %d: want %q at %d, got %q at %d", kind, session, at, want, wantSeq, data, seq)
	}
}

func snapshotBefore(p *probe) {
	log := p.openLog()
	put := func(session string, seq int64, kind string) {
		p.noError(log.PutSnapshot(p.ctx, session, seq, kind, fmt.Appendf(nil, "%s %s %d\x00\xff", session, kind, seq)), "PutSnapshot")
	}
	of := func(session string, seq int64, kind string) []byte {
		return fmt.Appendf(nil, "%s %s %d\x00\xff", session, kind, seq)
	}
	p.mustAppend(log, append(sampleEvents("a", 1, 30), sampleEvents("b", 1, 30)...)...)
	for _, seq := range []int64{20, 1, 30, 11} { // in any order
		put("a", seq, "chat")
	}
	put("a", 15, "other")
	put("b", 12, "chat")
	for _, c := range []struct{ at, want int64 }{{1, 1}, {10, 1}, {11, 11}, {12, 11}, {19, 11}, {20, 20}, {29, 20}, {30, 30}, {99, 30}, {math.MaxInt64, 30}} {
		p.wantSnapshot(log, "a", "chat", c.at, c.want, of("a", c.want, "chat"))
	}
	p.wantSnapshot(log, "a", "chat", 0, 0, nil)
	p.wantSnapshot(log, "a", "chat", -1, 0, nil)
	p.wantSnapshot(log, "a", "other", 14, 0, nil)
	p.wantSnapshot(log, "a", "other", 30, 15, of("a", 15, "other"))
	p.wantSnapshot(log, "b", "chat", 30, 12, of("b", 12, "chat"))
	p.wantSnapshot(log, "b", "other", 30, 0, nil)
	p.wantEvents(log, "a", sampleEvents("a", 1, 30)) // snapshots are not events
}

func snapshotReplaced(p *probe) {
	log := p.openLog()
	p.mustAppend(log, sampleEvents("s", 1, 9)...)
	for _, data := range [][]byte{[]byte("first"), bytes.Repeat([]byte("second "), 1<<20), []byte("third")} {
		p.noError(log.PutSnapshot(p.ctx, "s", 5, "k", data), "PutSnapshot")
		p.wantSnapshot(log, "s", "k", 9, 5, data)
	}
}

func snapshotAhead(p *probe) {
	log := p.openLog()
	ahead := func(session string, last, seq int64) {
		e := wantError[*eventlog.GapError](p, log.PutSnapshot(p.ctx, session, seq, "k", []byte("x")), "a snapshot after the last event")
		if e.Session != session || e.Last != last || e.Seq != seq {
			p.failf("want session %s from %d to %d, got session %s from %d to %d", session, last, seq, e.Session, e.Last, e.Seq)
		}
		p.wantSnapshot(log, session, "k", math.MaxInt64, 0, nil)
	}
	ahead("s", 0, 1)
	p.mustAppend(log, sampleEvents("s", 1, 9)...)
	ahead("s", 9, 10)
	if err := log.PutSnapshot(p.ctx, "s", 0, "k", nil); err == nil {
		p.failf("a snapshot at seq 0 was accepted")
	}
	if err := log.PutSnapshot(p.ctx, "s", 1, "", nil); err == nil {
		p.failf("a snapshot without a kind was accepted")
	}
	p.noError(log.PutSnapshot(p.ctx, "s", 9, "k", []byte("y")), "PutSnapshot")
	p.wantSnapshot(log, "s", "k", 9, 9, []byte("y"))
}

func snapshotCopies(p *probe) {
	log := p.openLog()
	p.mustAppend(log, sampleEvents("s", 1, 9)...)
	data := []byte("opaque")
	p.noError(log.PutSnapshot(p.ctx, "s", 5, "k", data), "PutSnapshot")
	clear(data)
	for range 2 {
		_, got, err := log.Snapshot(p.ctx, "s", "k", 9)
		p.noError(err, "Snapshot")
		if string(got) != "opaque" {
			p.failf("want %q, got %q", "opaque", got)
		}
		clear(got)
	}
}

func closeClosed(p *probe) {
	log := p.openLog()
	p.mustAppend(log, sampleEvents("s", 1, 3)...)
	p.noError(log.Close(), "close")
	closed := func(what string, err error) {
		if !errors.Is(err, eventlog.ErrClosed) {
			p.failf("%s after Close: want ErrClosed, got %v", what, err)
		}
	}
	closed("Append", log.Append(p.ctx, sampleEvent("s", 4)))
	_, err := log.Read(p.ctx, "s", 0, 0)
	closed("Read", err)
	_, err = log.Sessions(p.ctx)
	closed("Sessions", err)
	_, err = log.Session(p.ctx, "s")
	closed("Session", err)
	closed("PutSnapshot", log.PutSnapshot(p.ctx, "s", 1, "k", nil))
	_, _, err = log.Snapshot(p.ctx, "s", "k", 1)
	closed("Snapshot", err)
	m, data := sampleMedium(70, 1)
	closed("PutMedia", log.PutMedia(p.ctx, "s", m, data))
	_, _, err = log.Media(p.ctx, "s", m.SHA256)
	closed("Media", err)
	_, err = log.ListMedia(p.ctx, "s")
	closed("ListMedia", err)
	closed("PutOwner", log.PutOwner(p.ctx, "s", "alice"))
	_, err = log.Owner(p.ctx, "s")
	closed("Owner", err)
	_, err = log.Owners(p.ctx)
	closed("Owners", err)
	p.noError(log.Close(), "close again")
}

func durableReopened(p *probe) {
	log := p.openLog()
	p.mustAppend(log, append(sampleEvents("a", 1, 25), sampleEvents("b", 1, 3)...)...)
	p.noError(log.PutSnapshot(p.ctx, "a", 20, "k", []byte("opaque")), "PutSnapshot")
	m, data := sampleMedium(2<<20, 1)
	p.putMedia(log, "a", m, data)
	p.putOwner(log, "a", "alice")
	for last := int64(25); last < 28; last++ {
		before, err := log.Sessions(p.ctx)
		p.noError(err, "Sessions")
		log = p.reopenLog(log)
		after, err := log.Sessions(p.ctx)
		p.noError(err, "Sessions")
		if !slices.EqualFunc(before, after, sameInfo) {
			p.failf("Sessions before and after:\n%+v\n%+v", before, after)
		}
		p.wantEvents(log, "a", sampleEvents("a", 1, last))
		p.wantEvents(log, "b", sampleEvents("b", 1, 3))
		p.wantSnapshot(log, "a", "k", last, 20, []byte("opaque"))
		p.wantMedia(log, "a", m, data)
		p.wantMediaList(log, "a", m)
		p.putMedia(log, "a", m, data)
		p.wantOwners(log, map[string]string{"a": "alice", "b": ""})
		p.mustAppend(log, sampleEvents("a", 1, last+1)...) // events that it has
		_ = wantError[*eventlog.GapError](p, log.Append(p.ctx, sampleEvent("b", 5)), "a gap, after it was opened again")
	}
}
