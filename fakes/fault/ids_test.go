package fault

import (
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/turnspec/turnspec/fixtures"
)

// TestIDsOfALine: the ids that are found in one pass over a case are those that
// looking back from each line finds.
func TestIDsOfALine(t *testing.T) {
	sessions, turns := 0, 0
	for _, id := range []string{
		"codex/0.98.0/text/plain", "codex/0.169.0/text/plain", "codex/0.169.0/subagent/asks-beside-the-turn", "codex/0.169.0/session/resume-twice",
		"codex/0.169.0/session/fork-goes-its-own-way", "codex/0.98.0/turn/two-messages-during-a-turn", "claude/2.1.329/text/plain", "claude/2.1.329/session/resume-twice",
	} {
		c, err := fixtures.LoadCase(id)
		if err != nil {
			t.Fatal(err)
		}
		g := gomega.NewWithT(t)
		allSessions, allTurns := sessionIDs(c), turnIDs(c)
		for _, place := range outputs(c) {
			session := sessionLookingBack(c, place)
			g.Expect(allSessions[place]).To(gomega.Equal(session), "%s: session at %d", id, place)
			turn := turnLookingBack(c, place, session)
			g.Expect(allTurns[place]).To(gomega.Equal(turn), "%s: turn at %d", id, place)
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

func sessionLookingBack(c *fixtures.Case, place int) string {
	last := ""
	for i, w := range c.Wire {
		if w.Dir != fixtures.Out || w.Process != c.Wire[place].Process || i > place && last != "" {
			continue
		}
		session, thread := opened(w.Bytes)
		if last == "" {
			last = thread
		}
		if session != "" {
			last = session
		}
	}
	return last
}

func turnLookingBack(c *fixtures.Case, place int, session string) string {
	id := ""
	for _, w := range c.Wire[:place+1] {
		if w.Dir != fixtures.Out || w.Process != c.Wire[place].Process {
			continue
		}
		switch f := frameOf(w.Bytes); {
		case f.Params.ThreadID != session:
		case f.Method == "turn/started" && id == "":
			id = f.Params.Turn.ID
		case f.Method == "turn/completed":
			id = ""
		case id != "" && strings.HasPrefix(f.Method, "item/"):
			id = f.Params.TurnID
		}
	}
	return id
}

// BenchmarkPlaces finds all places of all operators in a case, and harms it at
// one of each.
func BenchmarkPlaces(b *testing.B) {
	c, err := fixtures.LoadCase("codex/0.169.0/subagent/asks-beside-the-turn")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		for _, o := range Operators() {
			if places := o.Places(c); len(places) > 0 {
				o.Apply(c, places[len(places)/2])
			}
		}
	}
}
