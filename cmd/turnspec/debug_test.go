package main

import (
	"bufio"
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/report"
	"github.com/turnspec/turnspec/fakes/standin"
	"github.com/turnspec/turnspec/fixtures"
)

// stepped is a run of three steps, with a line of each direction and an event.
func stepped() *conformance.Run {
	line := func(dir fixtures.Dir, text string, at time.Duration) conformance.PlayedLine {
		return conformance.PlayedLine{Line: fixtures.WireLine{Dir: dir, Bytes: []byte(text)}, At: at}
	}
	r := &conformance.Run{
		Case: &fixtures.Case{ID: "claude/1/text/plain"}, Scenario: &fixtures.Scenario{Intent: "It speaks."}, Began: time.Unix(100, 0),
		Opens:  []conformance.OpenResult{{}},
		Played: []conformance.PlayedLine{line(fixtures.In, "hidden", time.Second), line(fixtures.Out, "\x1b[1mhello", 2*time.Second)},
		Events: []conformance.Event{{Event: event.Event{Data: event.Delta{Text: "hello"}}, At: 3 * time.Second}},
	}
	for i, s := range []fixtures.Step{{Verb: fixtures.VerbOpen}, {Verb: fixtures.VerbSend, ID: "m1"}, {Verb: fixtures.VerbClose}} {
		r.Steps = append(r.Steps, conformance.StepResult{Step: s, At: time.Duration(i) * 2 * time.Second})
	}
	r.Steps[2].Err = errors.New("did not return\nat all")
	r.ClientActions = []standin.ClientAction{{At: r.Began.Add(time.Second), Bytes: []byte("request")}}
	return r
}

func TestDebugSteps(t *testing.T) {
	var got []string
	for _, s := range debugSteps(stepped()) {
		got = append(got, s.title)
		for _, row := range s.rows {
			got = append(got, strings.Join(strings.Fields(row.line(report.Style{}, 80)), " "))
		}
	}
	want := []string{
		"open", "1.000 adapter request",
		"send m1", `2.000 runtime \x1b[1mhello`, `3.000 event delta {"text":"hello","message_id":"","block_id":""}`,
		"close: did not return",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestSummarizeLine checks what is shown of a line of the wire.
func TestSummarizeLine(t *testing.T) {
	for line, want := range map[string][2]string{
		`{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"The \"Danube\", "}},"session_id":"s","uuid":"u","parent":null}`: {
			"stream_event content_block_delta text_delta", `index=0 text="The \"Danube\", "`,
		},
		`{"method":"turn/start","id":3,"params":{"threadId":"t","input":[{"type":"text","text":"hi"}],"deep":true}}`: {"turn/start text", `text="hi" deep=true`},
		`{"type":`: {"", `{"type":`},
		"no JSON":  {"", "no JSON"},
		"":         {"", ""},
	} {
		if kind, text := summarizeLine([]byte(line)); kind != want[0] || text != want[1] {
			t.Errorf("%s: got %q and %q, want %q", line, kind, text, want)
		}
	}
	long := `{"type":"x","text":"` + strings.Repeat("a", 10_000) + `","after":1}`
	if _, text := summarizeLine([]byte(long)); strings.Contains(text, "after") {
		t.Error("a long line is read to its end")
	}
	row := debugRow{time.Second, rowRuntime, "assistant", strings.Repeat("a", 100)}
	if got := row.line(report.Style{}, 40); utf8.RuneCountInString(got) != 40 || !strings.HasSuffix(got, "a…") {
		t.Errorf("a row of %d columns: %q", utf8.RuneCountInString(got), got)
	}
}

// TestStepThrough checks what each key does.
func TestStepThrough(t *testing.T) {
	for keys, want := range map[string]int{"nn": 3, "c": 3, "nc": 3, "q": 1, "nq": 2} {
		var out bytes.Buffer
		pressed := 0
		err := stepThrough(&out, func() byte { pressed++; return keys[pressed-1] }, stepped())
		if n := strings.Count(out.String(), "\nstep "); n != want || pressed != len(keys) {
			t.Errorf("%s: %d steps are shown after %d keys, want %d and %d: %v", keys, n, pressed, want, len(keys), err)
		}
		if quits := strings.HasSuffix(keys, "q"); quits && err != nil {
			t.Errorf("%s: %v", keys, err)
		}
	}
}

func TestReadKey(t *testing.T) {
	for in, want := range map[string]byte{"\n": 'n', "n\n": 'n', "c\n": 'c', "q\n": 'q', "what\nn\n": 'n', "": 'q', "n": 'q'} {
		var out bytes.Buffer
		if got := readKey(bufio.NewReader(strings.NewReader(in)), &out); got != want {
			t.Errorf("%q: got %c, want %c", in, got, want)
		}
	}
}
