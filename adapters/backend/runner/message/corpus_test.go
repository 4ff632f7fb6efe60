package message_test

import (
	"bytes"
	"flag"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/backend/replay"
	"github.com/turnspec/turnspec/adapters/backend/runner/message"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/streamgolden"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/racesample"
)

var update = flag.Bool("update", false, "write the goldens of testdata")

// messagesOf returns the messages of the events of a case: as lines in the order of the events, as turnspec emit
// writes them, and by session.
func messagesOf(t *testing.T, events []event.Event) (lines [][]byte, sessions map[string][]message.Message) {
	t.Helper()
	sessions = map[string][]message.Message{}
	translators := map[string]*message.Translator{}
	for _, e := range events {
		if translators[e.SessionID] == nil {
			translators[e.SessionID] = new(message.Translator)
		}
		for _, m := range translators[e.SessionID].Translate(e) {
			line, err := message.Encode(m)
			if err != nil {
				t.Fatal(err)
			}
			lines = append(lines, bytes.TrimSuffix(line, []byte("\n")))
			sessions[e.SessionID] = append(sessions[e.SessionID], m)
		}
	}
	return lines, sessions
}

func eachGolden() *streamgolden.Folder {
	return &streamgolden.Folder{Dir: filepath.Join("testdata", "each"), Show: func(id string) string { return "turnspec emit runner " + id }}
}

// TestOneMessageMissing leaves a message of one case out. Only this case must differ from the goldens.
func TestOneMessageMissing(t *testing.T) {
	g := gomega.NewWithT(t)
	id := fixtures.Embedded().Resolve("claude/newest/permission/allow")
	lines, _ := messagesOf(t, streamgolden.Events(t, fixtures.Embedded(), id))
	f := eachGolden()
	f.Add(id, lines)
	g.Expect(f.Compare(true)).To(gomega.BeEmpty())
	f.Add(id, lines[1:])
	g.Expect(f.Compare(true)).To(gomega.ConsistOf(gomega.HavePrefix(id + ": ")))
}

// TestEachCase translates the events of all cases. What the messages say must equal the chat
// that the events reduce to, nothing stays open, and the messages are those of the goldens.
func TestEachCase(t *testing.T) {
	ids, err := fixtures.Embedded().CaseIDs()
	if err != nil {
		t.Fatal(err)
	}
	seen, goldens := map[string]bool{}, eachGolden()
	sample := racesample.Sample(ids, 15)
	for _, id := range sample {
		all := streamgolden.Events(t, fixtures.Embedded(), id)
		lines, messages := messagesOf(t, all)
		goldens.Add(id, lines)
		sessions := map[string][]event.Event{}
		for _, e := range all {
			sessions[e.SessionID] = append(sessions[e.SessionID], e)
		}
		for session, events := range sessions {
			for _, problem := range problemsOf(messages[session], events, seen) {
				t.Errorf("%s: %s", id, problem)
			}
		}
	}
	sampled := len(sample) != len(ids)
	goldens.Test(t, *update, sampled, "go test ./adapters/backend/runner/message -run TestEachCase -update")
	var never []string
	for _, name := range message.Types() {
		if !seen[name] {
			never = append(never, name)
		}
	}
	// What only a runner says.
	ofRunner := []string{"ready", "complete", "shutdown", "listing"}
	if !testing.Short() && !sampled {
		gomega.NewWithT(t).Expect(never).To(gomega.ConsistOf(ofRunner), "types that no case has")
	}
}

// reading is what a front end keeps of the messages of a session.
type reading struct {
	seen     map[string]bool
	problems []string
	open     map[string]int // tools and requests
	blocks   []string       // of the turn, in order
	texts    map[string]string
	turns    map[int]string
	results  int
}

func (r *reading) add(m message.Message) {
	r.seen[m.Type()] = true
	b, err := message.Encode(m)
	var head struct {
		Type string `json:"type"`
	}
	if err != nil || json.Unmarshal(b, &head) != nil || head.Type != m.Type() || strings.Count(string(b), "\n") != 1 {
		r.problems = append(r.problems, "not a line with its type: "+string(b))
	}
	switch m := m.(type) {
	case message.AssistantText:
		if !slices.Contains(r.blocks, m.BlockID) {
			r.blocks = append(r.blocks, m.BlockID)
		}
		r.texts[m.BlockID] += m.Content
	case message.TextRetracted:
		delete(r.texts, m.BlockID)
	case message.ToolStart:
		r.open["tool "+m.AgentID+m.ID]++
	case message.ToolEnd:
		r.open["tool "+m.AgentID+m.ID]--
	case message.PermissionRequest:
		r.open["request "+m.RequestID]++
	case message.UserQuestionRequest:
		r.open["request "+m.RequestID]++
	case message.PlanApprovalRequest:
		r.open["request "+m.RequestID]++
	case message.PermissionResolved:
		r.open["request "+m.RequestID]--
	case message.RequestResolved:
		r.open["request "+m.RequestID]--
	case message.Result:
		r.results++
	case message.TurnComplete:
		var paragraphs []string
		for _, id := range r.blocks {
			paragraphs = append(paragraphs, r.texts[id])
		}
		r.turns[m.Turn] = joined(paragraphs)
		r.blocks, r.texts = nil, map[string]string{}
	}
}

// joined is a text without what separates its paragraphs.
func joined(paragraphs []string) string {
	return strings.Join(strings.Fields(strings.Join(paragraphs, " ")), " ")
}

func problemsOf(messages []message.Message, events []event.Event, seen map[string]bool) []string {
	r := &reading{seen: seen, open: map[string]int{}, texts: map[string]string{}, turns: map[int]string{}}
	for _, m := range messages {
		r.add(m)
	}
	for id, n := range r.open {
		if n != 0 {
			r.problems = append(r.problems, id+" is open or ended twice")
		}
	}
	if r.results != len(r.turns) {
		r.problems = append(r.problems, "a turn has no result, or two")
	}
	chat := replay.Reduce(events)
	for turn, text := range r.turns {
		if want := joined([]string{chat.Text(turn)}); text != want {
			r.problems = append(r.problems, "the text of a turn differs\n got "+text+"\nwant "+want)
		}
	}
	return r.problems
}
