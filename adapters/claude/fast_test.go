package claude

import (
	"bytes"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/fixtures"
)

// essence is all that fast fills.
type essence struct {
	typ, event, delta      word
	index                  int
	text, thinking         string
	session, parent, apiID string
}

func (l *line) essence() essence {
	return essence{l.Type, l.Event.Type, l.Event.Delta.Type, l.Event.Index, l.Event.Delta.Text, l.Event.Delta.Thinking,
		l.SessionID.get(), l.ParentToolUseID.get(), l.APIMessageID.get()}
}

// agree fails when fast accepts a line that the typed decoder reads otherwise.
func agree(t *testing.T, b []byte) bool {
	t.Helper()
	var quick, typed line
	if !quick.fast(b) {
		return false
	}
	if err := json.Unmarshal(b, &typed, lenient); err != nil {
		t.Fatalf("fast accepted %q, but: %v", b, err)
	}
	if quick.essence() != typed.essence() {
		t.Fatalf("%q: fast read %+v, want %+v", b, quick.essence(), typed.essence())
	}
	return true
}

func corpusDeltas(tb testing.TB) (lines [][]byte) {
	tb.Helper()
	cases, err := fixtures.Cases()
	if err != nil {
		tb.Fatal(err)
	}
	for _, c := range cases {
		for _, l := range c.Wire {
			if c.Runtime == "claude" && l.Dir == fixtures.Out && bytes.Contains(l.Bytes, deltaMark) {
				lines = append(lines, l.Bytes)
			}
		}
	}
	return lines
}

func TestTheFastPathReadsTheCorpusAsTheTypedDecoderDoes(t *testing.T) {
	n, text := 0, 0
	for _, l := range corpusDeltas(t) {
		if bytes.Contains(l, []byte(`"text_delta"`)) && len(l) <= maxFast {
			text++
			if agree(t, l) {
				n++
			}
			continue
		}
		agree(t, l)
	}
	if n == 0 || n != text {
		t.Fatalf("fast read %d of %d text deltas", n, text)
	}
}

func FuzzFast(f *testing.F) {
	for i, l := range corpusDeltas(f) {
		if i%50 == 0 {
			f.Add(l)
		}
	}
	for _, s := range []string{
		`{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"\ud83d"}}}`,
		`{"type":"stream_event","event":{"type":"content_block_delta","index":01,"delta":{"type":"text_delta","text":"a"}}}`,
		`{"event":{"delta":{"text":"\u00e9\n\"","type":"text_delta"},"index":3,"type":"content_block_delta"},"type":"stream_event"} `,
		`{"type":"stream_event","type":"x","event":{"type":"content_block_delta","delta":{"type":"text_delta","text":"a"}}}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) { agree(t, b) })
}

// deltas feeds a normalizer that is in the middle of a block.
func deltas(tb testing.TB) (next func()) {
	tb.Helper()
	lines := corpusDeltas(tb)
	n := NewNormalizer("s", func(event.Event) {})
	at := time.Unix(0, 0)
	n.Line(at, []byte(`{"type":"system","subtype":"init","session_id":"x"}`))
	n.Line(at, []byte(`{"type":"stream_event","event":{"type":"message_start","message":{"id":"msg_1"}}}`))
	n.Line(at, []byte(`{"type":"stream_event","event":{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}}`))
	var same [][]byte
	for _, l := range lines {
		if bytes.Contains(l, []byte(`"text_delta"`)) && bytes.Contains(l, []byte(`"api_message_id":"msg_1"`)) {
			same = append(same, l)
		}
	}
	i := 0
	return func() {
		n.Line(at, same[i%len(same)])
		i++
	}
}

func TestADeltaCostsFewAllocations(t *testing.T) {
	if n := testing.AllocsPerRun(1000, deltas(t)); n > 3 {
		t.Fatalf("a delta costs %.1f allocations, want at most 3", n)
	}
}

func BenchmarkDelta(b *testing.B) {
	next := deltas(b)
	b.ReportAllocs()
	for b.Loop() {
		next()
	}
}
