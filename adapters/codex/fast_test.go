package codex

import (
	"bytes"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/racesample"
)

// essence is all that fast fills.
type essence struct {
	id, method, thread, turn, item, delta string
	content, summary                      num
}

func (m *message) essence() essence {
	p := &m.Params
	return essence{string(m.ID), m.Method.val(), p.ThreadID.val(), p.TurnID.val(), p.ItemID.val(), p.Delta.val(), p.ContentIndex, p.SummaryIndex}
}

// agree fails when fast accepts a line that the typed decoder reads otherwise.
func agree(t *testing.T, b []byte) bool {
	t.Helper()
	var quick message
	if !quick.fast(b) {
		return false
	}
	same(t, &quick, b)
	return true
}

func same(t *testing.T, quick *message, b []byte) {
	t.Helper()
	var typed message
	if err := json.Unmarshal(b, &typed, asItCame); err != nil {
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
	var m message
	_ = m.decode(before)
	if !m.again(b) {
		return false
	}
	same(t, &m, b)
	return true
}

func corpusPieces(tb testing.TB) [][]byte {
	tb.Helper()
	lines, err := recordedPieces()
	if err != nil {
		tb.Fatal(err)
	}
	return lines
}

// recordedPieces reads the corpus once for all tests; with the race detector a part
// of it, since nothing here runs beside anything else.
var recordedPieces = sync.OnceValues(func() (lines [][]byte, err error) {
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

func TestTheFastPathReadsTheCorpusAsTheTypedDecoderDoes(t *testing.T) {
	lines := corpusPieces(t)
	read, like, want := 0, 0, 0
	for i, l := range lines {
		known := slices.ContainsFunc(pieces, func(p string) bool { return bytes.Contains(l, []byte(`"method":"`+p+`"`)) })
		if known && len(l) < 1<<10 && !bytes.Contains(l, []byte(`\ud`)) {
			want++
			if agree(t, l) {
				read++
			} else {
				t.Logf("not read: %s", l)
			}
			if i > 0 && agreeAfter(t, lines[i-1], l) {
				like++
			}
			continue
		}
		agree(t, l)
	}
	if read == 0 || read != want {
		t.Errorf("fast read %d of %d pieces", read, want)
	}
	if like < want/20 {
		t.Errorf("only %d of %d pieces are read by what the last one was", like, want)
	}
}

// What may differ from line to line is the text, the time and nothing else.
func TestWhatIsNotLikeTheLast(t *testing.T) {
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
		if got := agreeAfter(t, []byte(first), []byte(tt.line)); got != tt.like {
			t.Errorf("%s: like %v, want %v", tt.line, got, tt.like)
		}
	}
}

func FuzzFast(f *testing.F) {
	lines := corpusPieces(f)
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
		agree(t, b)
		agreeAfter(t, lines[0], b)
		agreeAfter(t, b, lines[0])
		agreeAfter(t, b, bytes.Replace(b, []byte("a"), []byte("b"), 1))
	})
}
