package fault

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/turnspec/turnspec/fixtures"
)

// TestSessionAndTurnOfALine compares the ids that one pass over a case finds with
// those that a search back from each line finds, with a separate reader.
func TestSessionAndTurnOfALine(t *testing.T) {
	sessions, turns := 0, 0
	for _, id := range []string{
		"codex/0.98.0/text/plain", "codex/newest/text/plain", "codex/newest/subagent/asks-beside-the-turn", "codex/newest/session/resume-twice",
		"codex/newest/session/fork-goes-its-own-way", "codex/0.98.0/turn/two-messages-during-a-turn", "claude/newest/text/plain", "claude/newest/session/resume-twice",
	} {
		c, err := fixtures.LoadCase(id)
		if err != nil {
			t.Fatal(err)
		}
		g := gomega.NewWithT(t)
		all := linesOf(c)
		for _, place := range all.outputs() {
			session := searchSession(c, place)
			g.Expect(all.sessions[place]).To(gomega.Equal(session), "%s: session at %d", id, place)
			turn := searchTurn(c, place, session)
			g.Expect(all.turns[place]).To(gomega.Equal(turn), "%s: turn at %d", id, place)
			if session != "" {
				sessions++
			}
			if turn != "" {
				turns++
			}
		}
	}
	g := gomega.NewWithT(t)
	g.Expect(sessions).To(gomega.BeNumerically(">", 100))
	g.Expect(turns).To(gomega.BeNumerically(">", 50))
}

// rawLine holds the ids of a line of either wire.
type rawLine struct {
	SessionID string          `json:"session_id"`
	Method    string          `json:"method"`
	Result    json.RawMessage `json:"result"`
	Params    struct {
		ThreadID string `json:"threadId"`
		TurnID   string `json:"turnId"`
		Turn     struct {
			ID string `json:"id"`
		} `json:"turn"`
	} `json:"params"`
}

func readRaw(b []byte) (l rawLine, opened string) {
	_ = json.Unmarshal(b, &l)
	var r struct {
		Thread struct {
			ID string `json:"id"`
		} `json:"thread"`
	}
	_ = json.Unmarshal(l.Result, &r)
	return l, r.Thread.ID
}

func searchSession(c *fixtures.Case, place int) string {
	last := ""
	for i, w := range c.Wire {
		if w.Dir != fixtures.Out || w.Process != c.Wire[place].Process || i > place && last != "" {
			continue
		}
		l, opened := readRaw(w.Bytes)
		if last == "" {
			last = opened
		}
		if l.SessionID != "" {
			last = l.SessionID
		}
	}
	return last
}

func searchTurn(c *fixtures.Case, place int, session string) string {
	id := ""
	for _, w := range c.Wire[:place+1] {
		if w.Dir != fixtures.Out || w.Process != c.Wire[place].Process {
			continue
		}
		switch l, _ := readRaw(w.Bytes); {
		case l.Params.ThreadID != session:
		case l.Method == "turn/started" && id == "":
			id = l.Params.Turn.ID
		case l.Method == "turn/completed":
			id = ""
		case id != "" && strings.HasPrefix(l.Method, "item/"):
			id = l.Params.TurnID
		}
	}
	return id
}

// BenchmarkPlaces finds all places of all operators in a case, and applies each at
// one of them.
func BenchmarkPlaces(b *testing.B) {
	c, err := fixtures.LoadCase("codex/newest/subagent/asks-beside-the-turn")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		for _, o := range Operators() {
			if places := o.Places(c, nil); len(places) > 0 {
				o.Apply(c, places[len(places)/2])
			}
		}
	}
}
