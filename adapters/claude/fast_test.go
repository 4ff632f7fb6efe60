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
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/racesample"
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
	var quick line
	if !quick.fast(b) {
		return false
	}
	same(t, &quick, b)
	return true
}

func same(t *testing.T, quick *line, b []byte) {
	t.Helper()
	var typed line
	if err := json.Unmarshal(b, &typed, lenient); err != nil {
		t.Fatalf("fast accepted %q, but: %v", b, err)
	}
	if quick.essence() != typed.essence() {
		t.Fatalf("%q: fast read %+v, want %+v", b, quick.essence(), typed.essence())
	}
}

// agreeAfter fails when a line that is read after another one is not read as if
// it were the first. It reports whether it was taken to be like that one.
func agreeAfter(t *testing.T, before, b []byte) bool {
	t.Helper()
	var ln line
	_ = ln.decode(before)
	if !ln.again(b) {
		return false
	}
	same(t, &ln, b)
	return true
}

func corpusDeltas(tb testing.TB) [][]byte {
	tb.Helper()
	lines, err := recordedDeltas()
	if err != nil {
		tb.Fatal(err)
	}
	return lines
}

// recordedDeltas reads the corpus once for all tests; with the race detector a part
// of it, since nothing here runs beside anything else.
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

func TestTheFastPathReadsTheCorpusAsTheTypedDecoderDoes(t *testing.T) {
	n, text := 0, 0
	for _, l := range corpusDeltas(t) {
		if bytes.Contains(l, []byte(`"text_delta"`)) && len(l) <= fastjson.MaxLine {
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

// A delta of the corpus after the one before it, as an adapter reads them.
func TestADeltaLikeTheLastIsReadAsTheTypedDecoderDoes(t *testing.T) {
	lines, n := corpusDeltas(t), 0
	for i, l := range lines {
		if i > 0 && agreeAfter(t, lines[i-1], l) {
			n++
		}
	}
	if n < len(lines)/20 {
		t.Fatalf("only %d of %d deltas are read by what the last one was", n, len(lines))
	}
}

// What may differ from line to line is text, uuid and nothing else.
func TestWhatIsNotLikeTheLast(t *testing.T) {
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
		if got := agreeAfter(t, []byte(first), []byte(tt.line)); got != tt.like {
			t.Errorf("%s: like %v, want %v", tt.line, got, tt.like)
		}
	}
	const both = `{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a","thinking":"b"}}}`
	if agreeAfter(t, []byte(both), []byte(both)) {
		t.Error("a line with two texts is none to know others by")
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
	lines := corpusDeltas(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		agree(t, b)
		agreeAfter(t, lines[0], b)
		agreeAfter(t, b, lines[0])
		agreeAfter(t, b, bytes.Replace(b, []byte("a"), []byte("b"), 1))
	})
}

// deltas feeds a normalizer that is in the middle of a block: the whole step,
// from a line of the wire to a line of NDJSON.
func deltas(tb testing.TB) (next func()) {
	tb.Helper()
	lines := corpusDeltas(tb)
	enc := event.NewEncoder(io.Discard)
	n := NewNormalizer("s", func(e event.Event) {
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

func TestADeltaCostsFewAllocations(t *testing.T) {
	const runs = 1000
	next := deltas(t)
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
	next := deltas(b)
	b.ReportAllocs()
	for b.Loop() {
		next()
	}
}
