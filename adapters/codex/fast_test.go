package codex

import (
	"bytes"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/turnspec/turnspec/adapters/internal/lenient"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/racesample"
)

// fastFields are all fields that decodeFast sets.
type fastFields struct {
	id, method, thread, turn, item, delta string
	content, summary                      lenient.Num
}

func (m *message) fastFields() fastFields {
	p := &m.Params
	return fastFields{string(m.ID), m.Method.val(), p.ThreadID.val(), p.TurnID.val(), p.ItemID.val(), p.Delta.val(), p.ContentIndex, p.SummaryIndex}
}

// checkFast fails if decodeFast accepts a line that the typed decoder reads
// differently.
func checkFast(t *testing.T, b []byte) bool {
	t.Helper()
	var quick message
	if !quick.decodeFast(b) {
		return false
	}
	compareTyped(t, &quick, b)
	return true
}

func compareTyped(t *testing.T, quick *message, b []byte) {
	t.Helper()
	var typed message
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
	var m message
	_ = m.decodeLine(before)
	if !m.matchTemplate(b) {
		return false
	}
	compareTyped(t, &m, b)
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
	ours := racesample.Sample(slices.DeleteFunc(ids, func(id string) bool { return !strings.HasPrefix(id, "codex/") }), 30)
	cases, err := fixtures.Embedded().CasesWhere(func(id string) bool { return slices.Contains(ours, id) })
	for _, c := range cases {
		for _, l := range c.Wire {
			if l.Dir == fixtures.Out && bytes.Contains(l.Bytes, []byte(`elta","params"`)) {
				lines = append(lines, l.Bytes)
			}
		}
	}
	return lines, err
})

func TestFastPathEqualsTypedDecoderOnTheCorpus(t *testing.T) {
	lines := loadDeltas(t)
	read, like, want := 0, 0, 0
	for i, l := range lines {
		known := slices.ContainsFunc(fastMethods, func(p string) bool { return bytes.Contains(l, []byte(`"method":"`+p+`"`)) })
		if known && len(l) < 1<<10 && !bytes.Contains(l, []byte(`\ud`)) {
			want++
			if checkFast(t, l) {
				read++
			} else {
				t.Logf("not read: %s", l)
			}
			if i > 0 && checkTemplate(t, lines[i-1], l) {
				like++
			}
			continue
		}
		checkFast(t, l)
	}
	if read == 0 || read != want {
		t.Errorf("decodeFast read %d of %d deltas", read, want)
	}
	if like < want/20 {
		t.Errorf("the template matched only %d of %d deltas", like, want)
	}
}

// Only the text and the time may differ between lines.
func TestTemplateMatchesOnlyTextAndTime(t *testing.T) {
	const first = `{"method":"item/agentMessage/delta","params":{"threadId":"t","turnId":"u","itemId":"i","delta":"a"},"emittedAtMs":17}`
	for _, tt := range []struct {
		line string
		like bool
	}{
		{strings.Replace(first, `"a"`, `"b\n\"c"`, 1), true},
		{strings.Replace(first, `"a"`, `""`, 1), true},
		{strings.Replace(first, `17`, `18123`, 1), true},
		{strings.Replace(first, `17`, `017`, 1), false},
		{strings.Replace(first, `17`, `-1`, 1), false},
		{strings.Replace(first, `17`, `1.5`, 1), false},
		{strings.Replace(first, `"a"`, "\"\x01\"", 1), false},
		{strings.Replace(first, `"a"`, `"\ud83d"`, 1), false},
		{strings.Replace(first, `"a"`, `"b","x":"c"`, 1), false},
		{strings.Replace(first, `"u"`, `"v"`, 1), false},
		{strings.Replace(first, `agentMessage`, `agentmessage`, 1), false},
		{first[:len(first)-1], false},
		{first + "}", false},
	} {
		if got := checkTemplate(t, []byte(first), []byte(tt.line)); got != tt.like {
			t.Errorf("%s: like %v, want %v", tt.line, got, tt.like)
		}
	}
}

func FuzzFast(f *testing.F) {
	lines := loadDeltas(f)
	for i, l := range lines {
		if i%50 == 0 {
			f.Add(l)
		}
	}
	for _, s := range []string{
		`{"method":"item/agentMessage/delta","params":{"delta":"\ud83d"}}`,
		`{"method":"item/agentMessage/delta","params":{"delta":"a","delta":"b"}}`,
		`{"emittedAtMs":0,"method":"item/reasoning/textDelta","params":{"contentIndex":3,"delta":"\u00e9\n"}} `,
		`{"method":"item/reasoning/summaryTextDelta","params":{"summaryIndex":01,"delta":""}}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		checkFast(t, b)
		checkTemplate(t, lines[0], b)
		checkTemplate(t, b, lines[0])
		checkTemplate(t, b, bytes.Replace(b, []byte("a"), []byte("b"), 1))
	})
}
