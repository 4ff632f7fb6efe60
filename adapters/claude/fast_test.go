package claude

import (
	"bytes"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/fastjson"
	"github.com/turnspec/turnspec/adapters/internal/lenient"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/racesample"
)

// fastFields are all fields that decodeFast sets.
type fastFields struct {
	typ, event, delta      word
	index                  int
	text, thinking         string
	session, parent, apiID string
}

func (l *line) fastFields() fastFields {
	return fastFields{l.Type, l.Event.Type, l.Event.Delta.Type, l.Event.Index, l.Event.Delta.Text, l.Event.Delta.Thinking,
		l.SessionID.get(), l.ParentToolUseID.get(), l.APIMessageID.get()}
}

// checkFast fails if decodeFast accepts a line that the typed decoder reads
// differently.
func checkFast(t *testing.T, b []byte) bool {
	t.Helper()
	var quick line
	if !quick.decodeFast(b) {
		return false
	}
	compareTyped(t, &quick, b)
	return true
}

func compareTyped(t *testing.T, quick *line, b []byte) {
	t.Helper()
	var typed line
	if err := json.Unmarshal(b, &typed, lenient.Options); err != nil {
		t.Fatalf("fast accepted %q, but: %v", b, err)
	}
	if quick.fastFields() != typed.fastFields() {
		t.Fatalf("%q: fast read %+v, want %+v", b, quick.fastFields(), typed.fastFields())
	}
}

// checkTemplate fails if a line that follows another one is read differently
// than alone. It reports whether the template matched.
func checkTemplate(t *testing.T, before, b []byte) bool {
	t.Helper()
	var ln line
	_ = ln.decodeLine(before)
	if !ln.matchTemplate(b) {
		return false
	}
	compareTyped(t, &ln, b)
	return true
}

func loadDeltas(tb testing.TB) [][]byte {
	tb.Helper()
	lines, err := recordedDeltas()
	if err != nil {
		tb.Fatal(err)
	}
	return lines
}

// recordedDeltas reads the corpus once for all tests. With the race detector it
// reads a sample, because these tests are not concurrent.
var recordedDeltas = sync.OnceValues(func() (lines [][]byte, err error) {
	ids, err := fixtures.Embedded().CaseIDs()
	if err != nil {
		return nil, err
	}
	ours := racesample.Sample(slices.DeleteFunc(ids, func(id string) bool { return !strings.HasPrefix(id, "claude/") }), 30)
	cases, err := fixtures.Embedded().CasesWhere(func(id string) bool { return slices.Contains(ours, id) })
	for _, c := range cases {
		for _, l := range c.Wire {
			if l.Dir == fixtures.Out && bytes.Contains(l.Bytes, deltaMark) {
				lines = append(lines, l.Bytes)
			}
		}
	}
	return lines, err
})

func TestFastPathEqualsTypedDecoderOnTheCorpus(t *testing.T) {
	n, text := 0, 0
	for _, l := range loadDeltas(t) {
		if bytes.Contains(l, []byte(`"text_delta"`)) && len(l) <= fastjson.MaxLine {
			text++
			if checkFast(t, l) {
				n++
			}
			continue
		}
		checkFast(t, l)
	}
	if n == 0 || n != text {
		t.Fatalf("fast read %d of %d text nextDelta", n, text)
	}
}

// Each delta of the corpus is read after the one before it, as an adapter reads
// them.
func TestTemplateEqualsTypedDecoderOnTheCorpus(t *testing.T) {
	lines, n := loadDeltas(t), 0
	for i, l := range lines {
		if i > 0 && checkTemplate(t, lines[i-1], l) {
			n++
		}
	}
	if n < len(lines)/20 {
		t.Fatalf("only %d of %d nextDelta are read by what the last one was", n, len(lines))
	}
}

// Only the text and the uuid may differ between lines.
func TestTemplateMatchesOnlyTextAndUUID(t *testing.T) {
	const first = `{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}},"session_id":"s","uuid":"u"}`
	for _, tt := range []struct {
		line string
		like bool
	}{
		{strings.Replace(first, `"a"`, `"b\n\"c"`, 1), true},
		{strings.Replace(first, `"a"`, `""`, 1), true},
		{strings.Replace(first, `"u"`, `"v"`, 1), true},
		{strings.Replace(first, `"u"`, `"\u0076"`, 1), false},
		{strings.Replace(first, `"a"`, "\"\x01\"", 1), false},
		{strings.Replace(first, `"a"`, `"\ud83d"`, 1), false},
		{strings.Replace(first, `"a"`, `"b","x":"c"`, 1), false},
		{strings.Replace(first, `"s"`, `"t"`, 1), false},
		{strings.Replace(first, `:0`, `:1`, 1), false},
		{first[:len(first)-1], false},
		{first + "}", false},
	} {
		if got := checkTemplate(t, []byte(first), []byte(tt.line)); got != tt.like {
			t.Errorf("%s: like %v, want %v", tt.line, got, tt.like)
		}
	}
	const both = `{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a","thinking":"b"}}}`
	if checkTemplate(t, []byte(both), []byte(both)) {
		t.Error("a line with two texts became a template")
	}
}

func FuzzFast(f *testing.F) {
	for i, l := range loadDeltas(f) {
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
	lines := loadDeltas(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		checkFast(t, b)
		checkTemplate(t, lines[0], b)
		checkTemplate(t, b, lines[0])
		checkTemplate(t, b, bytes.Replace(b, []byte("a"), []byte("b"), 1))
	})
}

// nextDelta returns a function that feeds a normalizer in the middle of a
// block. It covers the whole path, from a line of the wire to a line of NDJSON.
func nextDelta(tb testing.TB) (next func()) {
	tb.Helper()
	lines := loadDeltas(tb)
	enc := event.NewEncoder(io.Discard)
	n := New().Transcribe("s", func(e event.Event) {
		if err := enc.Encode(e); err != nil {
			tb.Error(err)
		}
	})
	at := time.Unix(0, 0)
	n.Line(at, []byte(`{"type":"system","subtype":"init","session_id":"x"}`))
	n.Line(at, []byte(`{"type":"stream_event","event":{"type":"message_start","message":{"id":"msg_1"}}}`))
	n.Line(at, []byte(`{"type":"stream_event","event":{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}}`))
	var same [][]byte
	for _, l := range lines {
		if len(l) < 1<<10 && bytes.Contains(l, []byte(`"text_delta"`)) && bytes.Contains(l, []byte(`"api_message_id":"msg_1"`)) {
			same = append(same, l)
		}
	}
	i := 0
	return func() {
		n.Line(at, same[i%len(same)])
		i++
	}
}

// The budget of a delta.
const (
	maxAllocs = 3
	maxBytes  = 600
)

func TestDeltaAllocations(t *testing.T) {
	const runs = 1000
	next := nextDelta(t)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	n := testing.AllocsPerRun(runs, next)
	runtime.ReadMemStats(&after)
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
	for b.Loop() {
		next()
	}
}
