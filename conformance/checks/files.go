package checks

import (
	"bytes"
	"encoding/base64"
	"slices"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fakes/standin"
	"github.com/turnspec/turnspec/fixtures"
)

func fileChecks() []*conformance.Check {
	return []*conformance.Check{{
		ID: "turn.files", Severity: conformance.Must, Source: "adapters that pass on a message's text alone", Tiers: both,
		Sentence:      "The pictures and documents that the user sends with a message reach the model.",
		JudgesWritten: true,
		Judge:         judgeFiles,
	}}
}

// judgeFiles counts what the model was sent with the message. In play nothing
// reaches a model: there the subject must have written the files.
func judgeFiles(t *conformance.Trial, f *conformance.Finding) {
	for _, a := range t.Steps {
		if a.Step.Verb != fixtures.VerbSend || len(a.Step.Files) == 0 || a.Err != nil {
			continue
		}
		f.Asserted(1)
		if t.Tier == conformance.TierLive {
			reached := 0
			for _, q := range t.Witness {
				if slices.Contains(q.New, a.Step.ID) {
					reached = max(reached, q.Files)
				}
			}
			if reached < len(a.Step.Files) {
				f.Failf("message %s brings %d files, and %d reached the model", a.Step.ID, len(a.Step.Files), reached)
			}
			continue
		}
		f.Sent = true
		for _, name := range a.Step.Files {
			data := []byte(base64.StdEncoding.EncodeToString(t.Scenario.Workspace[name]))
			if !slices.ContainsFunc(t.ClientActions, func(w standin.ClientAction) bool { return w.Kind == standin.KindSend && bytes.Contains(w.Bytes, data) }) {
				f.Failf("message %s brings %s, which was not written to the runtime", a.Step.ID, name)
			}
		}
	}
}
