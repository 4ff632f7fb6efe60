package message_test

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/replay"
	"github.com/turnspec/turnspec/adapters/runner/message"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/racesample"
)

// sessionsOf returns the stored events of a case, by session.
func sessionsOf(t *testing.T, id string) map[string][]event.Event {
	t.Helper()
	lines, err := fixtures.Embedded().GoldenEvents(id)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	out := map[string][]event.Event{}
	for _, line := range lines {
		e, err := event.Decode(line)
		if err != nil {
			t.Fatal(err)
		}
		out[e.SessionID] = append(out[e.SessionID], e)
	}
	return out
}

// TestEachCase translates the events of all cases. What the messages say must equal the chat
// that the events reduce to, and nothing stays open.
func TestEachCase(t *testing.T) {
	ids, err := fixtures.Embedded().CaseIDs()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, id := range racesample.Sample(ids, 15) {
		for _, events := range sessionsOf(t, id) {
			for _, problem := range problemsOf(events, seen) {
				t.Errorf("%s: %s", id, problem)
			}
		}
	}
	var never []string
	for _, name := range message.Types() {
		if !seen[name] {
			never = append(never, name)
		}
	}
	// What only a runner says.
	ofRunner := []string{"ready", "complete", "shutdown", "listing"}
	if !testing.Short() && len(racesample.Sample(ids, 15)) == len(ids) {
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

func problemsOf(events []event.Event, seen map[string]bool) []string {
	r := &reading{seen: seen, open: map[string]int{}, texts: map[string]string{}, turns: map[int]string{}}
	var t message.Translator
	for _, e := range events {
		for _, m := range t.Translate(e) {
			r.add(m)
		}
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
