package curve

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/turnspec/turnspec/adapters/backend/eventlog"
	"github.com/turnspec/turnspec/adapters/event"
)

// appended is how many events a log gets at once, as a recorder gives them under load.
const appended = 256

// newest is how many events of its end a client reads first.
const newest = 100

// Log measures a log with one session of n events: turns of 50 deltas. size returns the
// bytes that it takes on disk.
func Log(ctx context.Context, l eventlog.Log, n int, cpu func() int64, size func() float64) (p Point, err error) {
	p.N = n
	from, began := cpu(), time.Now()
	var batch []event.Event
	for seq := 1; seq <= n; seq++ {
		batch = append(batch, eventAt(seq))
		if len(batch) == appended || seq == n {
			if err := l.Append(ctx, batch...); err != nil {
				return p, err
			}
			batch = batch[:0]
		}
	}
	p.CPU, p.Wall = float64(cpu()-from)/1e9, time.Since(began).Seconds()
	began = time.Now()
	tail, err := l.Read(ctx, "s1", int64(max(0, n-newest)), newest)
	if err != nil {
		return p, err
	}
	if want := min(n, newest); len(tail) != want {
		return p, fmt.Errorf("the newest %d events were asked for, and %d came", want, len(tail))
	}
	p.Open = time.Since(began).Seconds()
	began = time.Now()
	seq := int64(0)
	for {
		page, err := l.Read(ctx, "s1", seq, 0)
		if err != nil {
			return p, err
		}
		if len(page) == 0 {
			break
		}
		seq = page[len(page)-1].Seq
	}
	if seq != int64(n) {
		return p, fmt.Errorf("%d events were stored, and the last one read is %d", n, seq)
	}
	p.Read, p.Stored, p.Memory = time.Since(began).Seconds(), size(), held()
	return p, nil
}

// turnEvents is how many events a turn of the log has: its start and its end too.
const turnEvents = 52

func eventAt(seq int) event.Event {
	e := event.Event{TS: time.Unix(1_700_000_000, int64(seq)*1e6).UTC(), Seq: int64(seq), SessionID: "s1", Turn: 1 + (seq-2)/turnEvents}
	switch in := (seq - 2) % turnEvents; {
	case seq == 1:
		e.Turn, e.Data = 0, event.SessionReady{SessionID: "s1", Runtime: "codex"}
	case in == 0:
		e.Data = event.TurnStart{Cause: event.CauseUser, MessageIDs: []string{fmt.Sprintf("m%d", e.Turn)}}
	case in == turnEvents-1:
		e.Data = event.Done{}
	default:
		e.Data = event.Delta{Text: strings.Repeat("some words ", 4), MessageID: fmt.Sprintf("msg_%d", e.Turn), BlockID: fmt.Sprintf("%d.1", e.Turn)}
	}
	return e
}
