package claude_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/claude"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/racesample"
)

// recordings returns the recorded cases of this runtime.
func recordings(t *testing.T) []*fixtures.Case {
	t.Helper()
	ours, err := corpus()
	if err != nil {
		t.Fatal(err)
	}
	if len(ours) == 0 {
		t.Fatal("no recorded case of claude")
	}
	return ours
}

// corpus is read once for all tests, which do not modify it.
var corpus = sync.OnceValues(func() ([]*fixtures.Case, error) {
	ids, err := fixtures.Embedded().CaseIDs()
	if err != nil {
		return nil, err
	}
	ours := slices.DeleteFunc(ids, func(id string) bool { return !strings.HasPrefix(id, "claude/") })
	if !racesample.Whole() {
		ours = fixtures.OneOfEachTopic(ours)
	}
	ours = racesample.Sample(ours, 3)
	return fixtures.Embedded().CasesWhere(func(id string) bool { return slices.Contains(ours, id) })
})

// stdout returns the output lines of one process.
func stdout(c *fixtures.Case, process int) (lines [][]byte) {
	for _, l := range c.Wire {
		if l.Process == process && l.Dir == fixtures.Out {
			lines = append(lines, l.Bytes)
		}
	}
	return lines
}

func normalize(lines [][]byte) (events []event.Event) {
	n := claude.New().Transcribe("s", func(e event.Event) { events = append(events, e) })
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i, l := range lines {
		n.Line(at.Add(time.Duration(i)*time.Millisecond), l)
	}
	n.End()
	return events
}

// blockTexts returns the text of each of the main agent's blocks, without
// retracted ones.
func blockTexts(events []event.Event) (text []string) {
	blocks := map[string]int{}
	for _, e := range events {
		switch d := e.Data.(type) {
		case event.Delta:
			if e.SubagentID != "" {
				continue
			}
			i, ok := blocks[d.BlockID]
			if !ok {
				i = len(text)
				blocks[d.BlockID] = i
				text = append(text, "")
			}
			text[i] += d.Text
		case event.BlockEnd:
			i, ok := blocks[d.BlockID]
			switch {
			case !ok:
			case d.Status == event.BlockRetracted:
				text[i] = ""
			case d.Status == event.BlockReplaced:
				text[i] = d.Text
			}
		}
	}
	return text
}

// checkStream returns the first violation of a rule that holds for every
// stream.
func checkStream(events []event.Event) error {
	ended, tools := map[int]bool{}, map[string]int{}
	for i, e := range events {
		if e.Seq != int64(i+1) {
			return fmt.Errorf("event %d has seq %d", i, e.Seq)
		}
		if e.Turn > 0 && e.SubagentID == "" && ended[e.Turn] {
			return fmt.Errorf("seq %d: %s of turn %d after its end", e.Seq, e.Type(), e.Turn)
		}
		switch d := e.Data.(type) {
		case event.Done, event.Error:
			ended[e.Turn] = true
		case event.TurnStart:
			ended[e.Turn] = false
		case event.ToolStart:
			tools[d.ToolUseID]++
		case event.ToolResult:
			tools[d.ToolUseID] += 100
		}
		b, err := e.AppendJSON(nil)
		if err != nil {
			return err
		}
		if _, err := event.Decode(b); err != nil {
			return fmt.Errorf("seq %d: %s does not read back: %w", e.Seq, b, err)
		}
	}
	for n, end := range ended {
		if n > 0 && !end {
			return fmt.Errorf("turn %d has no end", n)
		}
	}
	for id, n := range tools {
		if n != 101 {
			return fmt.Errorf("tool %s: %d starts, %d results", id, n%100, n/100)
		}
	}
	switch {
	case len(events) == 0:
		return fmt.Errorf("no events")
	case events[0].Type() != event.TypeSessionReady:
		return fmt.Errorf("the first event is %s", events[0].Type())
	case events[len(events)-1].Type() != event.TypeSessionEnd:
		return fmt.Errorf("the last event is %s", events[len(events)-1].Type())
	}
	return nil
}

func notices(events []event.Event, codes ...event.NoticeCode) (n int) {
	for _, e := range events {
		if d, ok := e.Data.(event.Notice); ok {
			for _, c := range codes {
				if d.Code == c {
					n++
				}
			}
		}
	}
	return n
}

func TestRecordedTextEqualsTheWitness(t *testing.T) {
	for _, c := range recordings(t) {
		t.Run(c.ID, func(t *testing.T) {
			if strings.HasPrefix(c.Scenario, "command/") {
				return // output of the runtime's own commands is not the model's
			}
			g := gomega.NewWithT(t)
			var events []event.Event
			got := ""
			for p := 1; p <= c.Wire[len(c.Wire)-1].Process; p++ {
				if len(stdout(c, p)) == 0 {
					continue // it ended before its first line
				}
				part := normalize(stdout(c, p))
				if part[0].Type() == event.TypeSessionReady { // otherwise it refused to open
					g.Expect(checkStream(part)).To(gomega.Succeed())
				}
				got += strings.Join(blockTexts(part), "")
				events = append(events, part...)
			}
			g.Expect(notices(events, event.NoticeUnknownMessage, event.NoticeGarbage, event.NoticeLate)).To(gomega.BeZero())
			want := ""
			for i, r := range c.Witness {
				if r.Agent != "" || slices.Contains(r.New, "compact") {
					continue
				}
				again := i+1 < len(c.Witness) && slices.Contains(c.Witness[i+1].New, "retry")
				for j, s := range r.Output {
					lost := r.Ended == fixtures.EndedCut && !s.Unfinished && !strings.HasPrefix(got, want+s.Text)
					if lost { // the client had not read it
						continue
					}
					if !s.Unfinished && (r.Ended != fixtures.EndedClosed || j < len(r.Output)-1) {
						want += s.Text
						continue
					}
					// A prefix of a message that broke off may stay, unless the
					// model repeated it.
					for n := 0; !again && n < len(s.Text) && strings.HasPrefix(got, want+s.Text[n:n+1]); n++ {
						want += s.Text[n : n+1]
					}
				}
			}
			g.Expect(got).To(gomega.Equal(want))
		})
	}
}

// Without partial messages the same text arrives, except for a block that was
// incomplete when the runtime was killed.
func TestTextDoesNotDependOnPartialMessages(t *testing.T) {
	for _, c := range recordings(t) {
		if e := c.Wire[len(c.Wire)-1]; e.Code != 0 || e.Signal != "" || c.Wire[len(c.Wire)-1].Process > 1 {
			continue
		}
		g := gomega.NewWithT(t)
		lines := stdout(c, 1)
		var whole [][]byte
		for _, l := range lines {
			if !bytes.Contains(l, []byte(`"type":"stream_event"`)) {
				whole = append(whole, l)
			}
		}
		got := strings.Join(blockTexts(normalize(whole)), "")
		// A blank block has no assistant line, only deltas.
		g.Expect(got).To(gomega.Equal(strings.TrimLeft(strings.Join(blockTexts(normalize(lines)), ""), "\n")), c.ID)
	}
}

func TestTranscriptMayBeginAndEndAnywhere(t *testing.T) {
	for n, c := range recordings(t) {
		lines := stdout(c, 1)
		step := 1 + len(lines)/20
		for i := n % step; i < len(lines); i += step { // another position in each recording
			if err := checkStream(normalize(lines[i:])); err != nil {
				t.Fatalf("%s from line %d: %v", c.ID, i, err)
			}
			if err := checkStream(normalize(lines[:i+1])); err != nil {
				t.Fatalf("%s to line %d: %v", c.ID, i, err)
			}
		}
	}
}

// An unknown line becomes one notice and changes nothing else.
func TestUnknownLinesBecomeOneNotice(t *testing.T) {
	odd := map[event.NoticeCode][]string{
		event.NoticeUnknownMessage: {
			`{"type":"brand_new","x":1}`, `{"type":"system","subtype":"brand_new"}`, `7`, `{"type":3}`,
			`{"session_id":"x","type":"stream_event","event":{"type":"brand_new"}}`,
		},
		event.NoticeGarbage: {`{"type":`, `hello`, "\xff\xfe"},
	}
	for _, c := range recordings(t) {
		lines := stdout(c, 1)
		plain := normalize(lines)
		if scn, err := fixtures.LoadScenario(c.Scenario); err != nil {
			t.Fatal(err)
		} else if len(plain) < 3 || scn.Client[0].Refused {
			continue // it opened no session, or had no turn
		}
		for code, list := range odd {
			for k, o := range list {
				i := (len(lines) * (k + 1)) / (len(list) + 2)
				o = strings.Replace(o, `"session_id":"x",`, "", 1)
				with := normalize(append(append(append([][]byte{}, lines[:i]...), []byte(o)), lines[i:]...))
				if err := checkStream(with); err != nil {
					t.Fatalf("%s with %s at %d: %v", c.ID, o, i, err)
				}
				if len(with) != len(plain)+1 || notices(with, code) != 1 {
					t.Fatalf("%s with %s at %d: got %d events and %d notices, want one more than %d", c.ID, o, i, len(with), notices(with, code), len(plain))
				}
			}
		}
	}
}

func TestLateLinesChangeNothing(t *testing.T) {
	for _, c := range recordings(t) {
		lines := stdout(c, 1)
		plain := normalize(lines)
		result, late := -1, [][]byte{}
		for i, l := range lines {
			if bytes.Contains(l, []byte(`"type":"result"`)) {
				result = i
				break
			}
			if bytes.Contains(l, []byte(`"content_block_delta"`)) || bytes.Contains(l, []byte(`"type":"assistant"`)) || bytes.Contains(l, []byte(`"tool_result"`)) {
				late = append(late, l)
			}
		}
		if result < 0 {
			continue
		}
		late = append(late, lines[result]) // a duplicate result
		end := min(result+6, len(lines))
		for i := result + 1; i < end; i++ {
			if bytes.Contains(lines[i], []byte(`"subtype":"init"`)) {
				end = i // in the next turn it would not be late
			}
		}
		// An older version does not report the end of a sub-agent before the
		// turn's end.
		if c.Version == "2.1.197" {
			late = slices.DeleteFunc(late, func(l []byte) bool { return bytes.Contains(l, []byte(`"parent_tool_use_id":"`)) })
		}
		for _, at := range []int{result + 1, end} {
			with := append(append(append([][]byte{}, lines[:at]...), late...), lines[at:]...)
			if got := normalize(with); len(got) != len(plain) {
				t.Fatalf("%s: %d events with late lines at %d, want %d", c.ID, len(got), at, len(plain))
			}
		}
	}
}
