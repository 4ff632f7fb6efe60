package turn

import (
	"bytes"
	"encoding/base64"
	"net/url"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fakes/standin"
	"github.com/turnspec/turnspec/fixtures"
)

// Files is the check turn.files.
var Files = &conformance.Check{
	ID: "turn.files", Source: "adapters that send only the text of a message", Tiers: []conformance.Tier{conformance.TierWitness, conformance.TierLive},
	Mend:          "Put the attachments into the message in the form that the runtime reads: an image or document block, or the path of a local file.",
	Sentence:      "The pictures and documents that the user sends with a message reach the model.",
	JudgesWritten: true,
	Judge:         judgeFiles,
}

// judgeFiles counts the files that reached the model with a message. If a case is
// replayed there is no model, so the subject must have written the files.
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
				f.Failf("message %s has %d files, but %d reached the model", a.Step.ID, len(a.Step.Files), reached)
			}
			continue
		}
		f.Sent = true
		for _, name := range a.Step.Files {
			forms := fileForms(name, t.Scenario.Workspace[name])
			if a.Step.ByPath { // an adapter may read the file itself
				forms = append(forms, []byte("/"+name+`"`), []byte((&url.URL{Path: "/" + name}).EscapedPath()+`"`))
			}
			written := slices.ContainsFunc(t.ClientActions, func(w standin.ClientAction) bool { return w.Kind == standin.KindSend && containsAny(w.Bytes, forms) })
			if !written && !onCommandLine(t.Run, a.Step, name) {
				f.Failf("message %s: the subject did not write the file %s to the runtime", a.Step.ID, name)
			}
		}
	}
}

// fileForms are how the bytes of a file stand in a message: as the whole of a member in base64,
// in the URL of a picture or a file, or as a member that is the text. A data URL in the words of
// the user, or as the address of a resource, is no file: no runtime reads it.
func fileForms(name string, b []byte) [][]byte {
	encoded := base64.StdEncoding.EncodeToString(b)
	forms := [][]byte{[]byte(`"` + encoded + `"`), []byte(`"url":"data:` + fixtures.MIME(name) + ";base64," + encoded + `"`)}
	if text, err := jsontext.AppendQuote(nil, b); err == nil { // else it is no text
		forms = append(forms, text)
	}
	return forms
}

// onCommandLine reports whether an option of a process names the file, or one with the same
// bytes.
func onCommandLine(r *conformance.Run, s fixtures.Step, name string) bool {
	return slices.ContainsFunc(r.Started, func(p standin.Started) bool {
		return slices.ContainsFunc(p.Attachments, func(b []byte) bool { return bytes.Equal(b, r.Scenario.Workspace[name]) }) ||
			s.ByPath && slices.ContainsFunc(p.Argv, func(a string) bool { return strings.HasSuffix(a, "/"+name) })
	})
}

func containsAny(b []byte, forms [][]byte) bool {
	return slices.ContainsFunc(forms, func(form []byte) bool { return bytes.Contains(b, form) })
}
