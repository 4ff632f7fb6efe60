package different_test

import (
	"bytes"
	"io"
	"regexp"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/claude"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/backend"
	"github.com/turnspec/turnspec/conformance/checks/turn"
	"github.com/turnspec/turnspec/conformance/lab/different"
	"github.com/turnspec/turnspec/conformance/runner"
	"github.com/turnspec/turnspec/fixtures"
)

var messageID = regexp.MustCompile(`,"uuid":"[^"]*"`)

// TestLostEndThatNobodyReports drops the end of a turn for a client that asked for
// neither states of the session nor states of a message. It receives nothing more, as
// from a runtime that hangs, which turn.stall-ends judges.
func TestLostEndThatNobodyReports(t *testing.T) {
	asksForNothing := different.Adapter{
		Sentence: "sends messages without ids",
		Write: func(line []byte, w io.Writer) error {
			if bytes.Contains(line, []byte(`"type":"user"`)) {
				line = messageID.ReplaceAll(line, nil)
			}
			_, err := w.Write(line)
			return err
		},
	}
	for _, c := range []struct {
		name    string
		subject conformance.Subject
		want    conformance.Verdict
	}{
		{"asks", backend.Adapter("claude", claude.New()), conformance.Pass},
		{"asks for nothing", asksForNothing.Subject(backend.Adapter("claude", claude.New())), conformance.NotApplicable},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := NewWithT(t)
			rep, err := runner.Run(t.Context(), conformance.Config{
				Corpus: fixtures.Embedded(), Checks: []*conformance.Check{turn.LostEnd}, Subjects: []conformance.Subject{c.subject},
				Cases: []string{"claude/newest/text/plain"}, Tiers: []conformance.Tier{conformance.TierWitness},
			})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(rep.FaultRuns).To(Equal(1))
			g.Expect(rep.Results).To(HaveLen(1))
			g.Expect(rep.Results[0].Problems).To(BeEmpty())
			g.Expect(rep.Results[0].Verdict).To(Equal(c.want))
		})
	}
}
