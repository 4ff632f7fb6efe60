package session_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/claude"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/checks/session"
	"github.com/turnspec/turnspec/conformance/perform"
	"github.com/turnspec/turnspec/fixtures"
)

// In real time an event may be under way while the runtime states more. What it stated after the
// session was open is then not demanded of session_ready.
func TestLateSessionReady(t *testing.T) {
	g := NewWithT(t)
	c, err := fixtures.LoadCase("claude/newest/session/resume-in-a-new-process")
	g.Expect(err).NotTo(HaveOccurred())
	rec, err := (&perform.Loader{Corpus: fixtures.Embedded()}).Load(c)
	g.Expect(err).NotTo(HaveOccurred())
	run := perform.Virtual(conformance.Adapter("reference", claude.New()), rec, nil)
	for i := range run.Events {
		if d, is := run.Events[i].Data.(event.SessionReady); is {
			d.Model = ""
			run.Events[i].Data = d
			run.Events[i].Line = len(run.Played)
		}
	}
	problems := func(tier conformance.Tier) []conformance.Problem {
		run, f := *run, &conformance.Finding{}
		run.Tier = tier
		session.Described.Judge(&conformance.Trial{Run: &run}, f)
		return f.Problems
	}
	g.Expect(problems(conformance.TierWitness)).NotTo(BeEmpty())
	g.Expect(problems(conformance.TierProcess)).To(BeEmpty())
}
