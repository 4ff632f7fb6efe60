package codex_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/turnspec/turnspec/adapters/codex"
	"github.com/turnspec/turnspec/adapters/event"
)

const delta = `{"method":"item/agentMessage/delta","params":{"threadId":"01a1fc75-23ab-7220-9ee7-bd6824ee8a6f","turnId":"01a1fc75-23be-7d01-83b9-f8b7091d4168","itemId":"msg_1","delta":"word %d "},"emittedAtMs":1795236897860}`

// A delta must stay within three allocations: text, event, and one to spare.
func TestADeltaIsLean(t *testing.T) {
	n := codex.NewNormalizer("s", func(event.Event) {})
	lines := make([][]byte, 64)
	for i := range lines {
		lines[i] = fmt.Appendf(nil, delta, i)
	}
	at, i := time.Unix(0, 0), 0
	n.Line(at, lines[0])
	if got := testing.AllocsPerRun(1000, func() { i++; n.Line(at, lines[i%64]) }); got > 3 {
		t.Errorf("a delta took %v allocations, want at most 3", got)
	}
}

func BenchmarkDelta(b *testing.B) {
	n := codex.NewNormalizer("s", func(event.Event) {})
	lines := make([][]byte, 64)
	for i := range lines {
		lines[i] = fmt.Appendf(nil, delta, i)
	}
	at := time.Unix(0, 0)
	b.ReportAllocs()
	b.SetBytes(int64(len(lines[0])))
	for i := 0; b.Loop(); i++ {
		n.Line(at, lines[i%64])
	}
}
