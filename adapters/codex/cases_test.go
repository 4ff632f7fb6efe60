package codex_test

import (
	"bufio"
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	. "github.com/onsi/gomega"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/turnspec/turnspec/adapters/codex"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/racesample"
)

// corpus lists the recordings in TURNSPEC_FIXTURES, or else in the repository.
func corpus(t *testing.T) []string {
	t.Helper()
	dir := os.Getenv("TURNSPEC_FIXTURES")
	if dir == "" {
		dir = filepath.Join("..", "..", "fixtures")
	}
	var files []string
	_ = filepath.WalkDir(filepath.Join(dir, "codex"), func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		// codex/VERSION/TOPIC/NAME.txtar; beside the topics lies what was learnt of the version.
		name, err := filepath.Rel(dir, p)
		if strings.HasSuffix(p, ".txtar") && strings.Count(filepath.ToSlash(name), "/") == 3 {
			files = append(files, filepath.ToSlash(p))
		}
		return err
	})
	if len(files) == 0 {
		t.Fatalf("no recordings in %s: nothing would be looked at", dir)
	}
	if !racesample.Whole() {
		files = fixtures.OneOfEachTopic(files)
	}
	return racesample.Sample(files, 2)
}

// turnRecordings lists the recordings of clients that only open, send and
// close, because the player of these tests supports nothing else.
func turnRecordings(t *testing.T) []string {
	t.Helper()
	return slices.DeleteFunc(corpus(t), func(file string) bool {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		_, name, _ := strings.Cut(string(b), "scenario: ")
		name, _, _ = strings.Cut(name, "\n")
		scn, err := fixtures.LoadScenario(name)
		if err != nil {
			t.Fatal(err)
		}
		// A transcript does not show how a process was killed within a turn.
		return scn.Topic == "process" || slices.ContainsFunc(scn.Client, func(a fixtures.Step) bool {
			switch a.Verb {
			case fixtures.VerbOpen:
				return a.Refused || a.What != "" && (a.What != "resume" || a.ID != "") || len(a.Args) > 0
			case fixtures.VerbKill, fixtures.VerbRevert, fixtures.VerbCompact, fixtures.VerbArchive, fixtures.VerbName, fixtures.VerbList, fixtures.VerbCloseStdin, fixtures.VerbRaw:
				return true
			}
			return false
		})
	})
}

type witnessLine struct {
	Agent string   `json:"agent"`
	New   []string `json:"new"`
	Said  []struct {
		Text  string `json:"text"`
		Think string `json:"think"`
		Tool  string `json:"tool"`
		ID    string `json:"id"`
		Open  bool   `json:"open"`
	} `json:"said"`
	Ended string `json:"ended"`
}

// readCase returns a case's file with its spans expanded.
func readCase(file string) ([]byte, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	whole, err := fixtures.ExpandRepeats(string(b))
	return []byte(whole), err
}

// load returns the runtime's lines and the witness of a case.
func load(t *testing.T, file string) (out [][]byte, witness []witnessLine) {
	t.Helper()
	b, err := readCase(file)
	if err != nil {
		t.Fatal(file, err)
	}
	for _, f := range txtar.Parse(b).Files {
		sc := bufio.NewScanner(bytes.NewReader(f.Data))
		sc.Buffer(nil, 64<<20)
		for sc.Scan() {
			switch f.Name {
			case "wire":
				var l struct {
					Out jsontext.Value `json:"out"`
				}
				if json.Unmarshal(sc.Bytes(), &l, jsontext.AllowInvalidUTF8(true)) == nil && l.Out != nil {
					out = append(out, l.Out)
				}
			case "witness":
				var s witnessLine
				if err := json.Unmarshal(sc.Bytes(), &s, jsontext.AllowInvalidUTF8(true)); err != nil {
					t.Fatal(file, err)
				}
				witness = append(witness, s)
			}
		}
	}
	return out, witness
}

// normalize converts lines that arrive a millisecond apart.
func normalize(lines [][]byte) []event.Event {
	var evs []event.Event
	n := codex.New().Transcribe("s", func(e event.Event) { evs = append(evs, e) })
	at := time.Unix(0, 0)
	for _, l := range lines {
		at = at.Add(time.Millisecond)
		n.Line(at, l)
	}
	n.End()
	return evs
}

// visible returns the text and the reasoning of the session's own agent.
// Retracted blocks are omitted; replaced ones have the new text.
func visible(evs []event.Event) (text, think string) {
	var order, thoughts []string
	blocks := map[string]string{}
	for _, e := range evs {
		if e.SubagentID != "" {
			continue
		}
		switch d := e.Data.(type) {
		case event.Delta:
			if _, ok := blocks[d.BlockID]; !ok {
				order = append(order, d.BlockID)
			}
			blocks[d.BlockID] += d.Text
		case event.BlockEnd:
			switch d.Status {
			case event.BlockRetracted:
				blocks[d.BlockID] = ""
			case event.BlockReplaced:
				blocks[d.BlockID] = d.Text
			}
		case event.Thinking:
			if _, ok := blocks[d.BlockID]; !ok {
				thoughts = append(thoughts, d.BlockID)
			}
			blocks[d.BlockID] += d.Text
		}
	}
	for _, id := range order {
		text += blocks[id]
	}
	for _, id := range thoughts {
		think += blocks[id]
	}
	return text, think
}

// withoutPlanTags removes the tags around a plan, as the runtime does.
var withoutPlanTags = strings.NewReplacer("<proposed_plan>\n", "", "</proposed_plan>\n", "")

// A recording's text, reasoning and tools equal what the model sent.
func TestRecordingsEqualTheirWitness(t *testing.T) {
	for _, file := range corpus(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			g := NewWithT(t)
			out, witness := load(t, file)
			evs := normalize(out)
			text, think := visible(evs)
			if bytes.Contains(bytes.Join(out, nil), []byte(`"type":"enteredReviewMode"`)) {
				witness, text, think = nil, "", "" // the runtime rewrites a reviewer's text
			}
			for i, w := range witness {
				if w.Agent != "" || slices.Contains(w.New, "compact") {
					continue
				}
				again := i+1 < len(witness) && slices.Contains(witness[i+1].New, "retry")
				for j, s := range w.Said {
					s.Text = withoutPlanTags.Replace(s.Text)
					open := s.Open || w.Ended == "closed" && j == len(w.Said)-1
					switch {
					case s.Tool != "", open && again: // the model repeats it
					case s.Think != "":
						g.Expect(think).To(HavePrefix(s.Think))
						think = think[len(s.Think):]
					case open:
						n := 0
						for n < len(text) && n < len(s.Text) && text[n] == s.Text[n] {
							n++
						}
						if w.Ended == "closed" { // a cut is not always reported
							g.Expect(n).To(BeNumerically(">", 0))
						}
						text = text[n:]
					default:
						g.Expect(text).To(HavePrefix(s.Text))
						text = text[len(s.Text):]
					}
				}
			}
			g.Expect(text).To(BeEmpty())
			g.Expect(think).To(BeEmpty())
			checkStream(t, evs)
			for _, e := range evs {
				if n, ok := e.Data.(event.Notice); ok {
					g.Expect(n.Code).NotTo(Equal(event.NoticeUnknownMessage), "%s %s", n.Text, n.Raw)
				}
			}
		})
	}
}

// checkStream checks the rules that hold for every stream: consecutive seq, one
// end for each turn, everything open closed before it, and nothing of the turn
// after it.
func checkStream(t *testing.T, evs []event.Event) {
	t.Helper()
	g := NewWithT(t)
	g.Expect(evs[0].Type()).To(Equal(event.TypeSessionReady))
	g.Expect(evs[len(evs)-1].Type()).To(Equal(event.TypeSessionEnd))
	began, ended := map[int]bool{}, map[int]bool{}
	tools, blocks, thoughts, asks := map[string]int{}, map[string]bool{}, map[string]bool{}, map[string]bool{}
	for i, e := range evs {
		g.Expect(e.Seq).To(Equal(int64(i + 1)))
		if e.Turn > 0 && e.SubagentID == "" {
			g.Expect(ended[e.Turn]).To(BeFalse(), "event %d after the end of turn %d", e.Seq, e.Turn)
		}
		switch d := e.Data.(type) {
		case event.TurnStart:
			began[e.Turn] = true
		case event.ToolStart:
			tools[e.SubagentID+d.ToolUseID]++
		case event.ToolResult:
			g.Expect(tools[e.SubagentID+d.ToolUseID]).To(Equal(1), "result of %s", d.ToolUseID)
			tools[e.SubagentID+d.ToolUseID]--
		case event.Delta:
			blocks[d.BlockID] = true
		case event.Thinking:
			thoughts[d.BlockID] = d.Done
		case event.BlockEnd:
			if !thoughts[d.BlockID] { // reasoning may be retracted
				g.Expect(blocks).To(HaveKey(d.BlockID))
			}
			delete(blocks, d.BlockID)
		case event.PermissionRequest:
			asks[d.RequestID] = true
		case event.PermissionResolved:
			g.Expect(asks).To(HaveKey(d.RequestID))
			delete(asks, d.RequestID)
		}
		if e.Terminal() && e.Turn > 0 {
			ended[e.Turn] = true
		}
	}
	g.Expect(ended).To(Equal(began), "each turn ends once")
	for id, n := range tools {
		g.Expect(n).To(BeZero(), "tool %s is open at the end", id)
	}
	g.Expect(blocks).To(BeEmpty())
	g.Expect(asks).To(BeEmpty())
}

// A transcript may begin and end anywhere.
func TestTranscriptMayBeginAndEndAnywhere(t *testing.T) {
	for _, file := range corpus(t) {
		out, _ := load(t, file)
		step := max(1, len(out)/12)
		for i := 0; i < len(out); i += step {
			checkStream(t, normalize(out[i:]))
			checkStream(t, normalize(out[:i+1]))
		}
	}
}

// Unknown lines, garbage and blank lines change no other event. Each position
// of a recording gets two of them, in rotation.
func TestForeignLinesChangeNothing(t *testing.T) {
	foreign := []string{
		`{"method":"item/wonder","params":{"threadId":"x","turnId":7}}`, `{"id":99,"what":1}`, `[]`, `17`, `not json`, `{"method":"item/started","params":{`,
	}
	for n, file := range corpus(t) {
		out, _ := load(t, file)
		plain := eventKeys(normalize(out), false)
		step := max(1, len(out)/6)
		for i := 0; i <= len(out); i += step {
			for _, l := range []string{foreign[n%6], foreign[(n+3)%6]} {
				n++
				lines := append(append(append([][]byte{}, out[:i]...), []byte(l), []byte("  ")), out[i:]...)
				got := normalize(lines)
				NewWithT(t).Expect(eventKeys(got, true)).To(Equal(plain), "%s: %s at line %d", file, l, i)
				NewWithT(t).Expect(len(got)).To(Equal(len(plain)+1), "%s: %s at line %d: want one notice", file, l, i)
			}
		}
	}
}

// eventKeys encodes events without time and seq. If skip is set, notices of
// foreign lines are omitted.
func eventKeys(evs []event.Event, skip bool) []string {
	var out []string
	for _, e := range evs {
		if n, ok := e.Data.(event.Notice); ok && skip && (n.Code == event.NoticeUnknownMessage || n.Code == event.NoticeGarbage) {
			continue
		}
		e.TS, e.Seq = time.Time{}, 1
		b, _ := e.AppendJSON(nil)
		out = append(out, string(b))
	}
	return out
}
