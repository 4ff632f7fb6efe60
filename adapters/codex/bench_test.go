package codex_test

import (
	"fmt"
	"io"
	goruntime "runtime"
	"testing"
	"time"

	"github.com/turnspec/turnspec/adapters/codex"
	"github.com/turnspec/turnspec/adapters/event"
)

const delta = `{"method":"item/agentMessage/delta","params":{"threadId":"01a1fc75-23ab-7220-9ee7-bd6824ee8a6f","turnId":"01a1fc75-23be-7d01-83b9-f8b7091d4168","itemId":"msg_1","delta":"word %d "},"emittedAtMs":1795236897860}`

// The budget of a delta.
const (
	maxAllocs = 3
	maxBytes  = 600
)

// nextDelta returns a function that feeds a normalizer in the middle of a
// message. It covers the whole path, from a line of the wire to a line of
// NDJSON.
func nextDelta(tb testing.TB) (next func()) {
	tb.Helper()
	enc := event.NewEncoder(io.Discard)
	n := codex.New().Transcribe("s", func(e event.Event) {
		if err := enc.Encode(e); err != nil {
			tb.Error(err)
		}
	})
	lines := make([][]byte, 64)
	for i := range lines {
		lines[i] = fmt.Appendf(nil, delta, i)
	}
	at, i := time.Unix(0, 0), 0
	n.Line(at, lines[0])
	return func() { i++; n.Line(at, lines[i%64]) }
}

func TestDeltaAllocations(t *testing.T) {
	const runs = 1000
	next := nextDelta(t)
	var before, after goruntime.MemStats
	goruntime.ReadMemStats(&before)
	n := testing.AllocsPerRun(runs, next)
	goruntime.ReadMemStats(&after)
	if n > maxAllocs {
		t.Errorf("a delta costs %.1f allocations, want at most %d", n, maxAllocs)
	}
	if size := (after.TotalAlloc - before.TotalAlloc) / runs; size > maxBytes {
		t.Errorf("a delta costs %d bytes, want at most %d", size, maxBytes)
	}
}

func BenchmarkDelta(b *testing.B) {
	next := nextDelta(b)
	b.ReportAllocs()
	b.SetBytes(int64(len(delta)))
	for b.Loop() {
		next()
	}
}
