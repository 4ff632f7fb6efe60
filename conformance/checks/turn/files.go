package turn

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
	"github.com/turnspec/turnspec/fakes/standin"
	"github.com/turnspec/turnspec/fixtures"
)

// Files is the check turn.files.
var Files = &conformance.Check{
	ID: "turn.files", Source: "adapters that send only the text of a message", Tiers: []conformance.Tier{conformance.TierWitness, conformance.TierLive},
	Mend:          "Put the attachments into the message in the form that the runtime reads: an image or document block with its type and its name, or the path of a local file.",
	Sentence:      "The pictures and documents that the user sends with a message reach the model, with their types, and with their names if the message has a place for names.",
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
			media := 0 // OpenCode puts a text into the words of the request, where it is not counted
			for _, name := range a.Step.Files {
				if !strings.HasPrefix(fixtures.MIME(name), "text/") {
					media++
				}
			}
			if reached < media {
				f.Failf("message %s has %d pictures and documents, but %d reached the model", a.Step.ID, media, reached)
			}
			continue
		}
		f.Sent = true
		for _, name := range a.Step.Files {
			i := slices.IndexFunc(t.ClientActions, func(w standin.ClientAction) bool {
				return w.Kind == standin.KindSend && holdsFile(w.Bytes, name, t.Scenario.Workspace[name], a.Step.ByPath)
			})
			switch {
			case i >= 0:
				judgeDescription(t.Run, f, &t.ClientActions[i], name)
			case !onCommandLine(t.Run, a.Step, name):
				f.Failf("message %s: the subject did not write the file %s to the runtime", a.Step.ID, name)
			}
		}
	}
}

// judgeDescription demands that a message states the type and the name of a file if the
// recorded client, which also sent the bytes of the file, stated them: these runtimes read them,
// and give them to the model.
func judgeDescription(r *conformance.Run, f *conformance.Finding, w *standin.ClientAction, name string) {
	if w.Matched == nil || !holdsFile(w.Matched.Bytes, name, r.Scenario.Workspace[name], false) {
		return
	}
	mime := fixtures.MIME(name)
	for _, d := range []struct {
		what, value string
		states      func(text string) bool
	}{
		{"type", mime, func(text string) bool { return text == mime || strings.HasPrefix(text, "data:"+mime+";") }},
		{"name", name, func(text string) bool { return text == name || endsWithName(text, name) }},
	} {
		states := func(message []byte) bool {
			return runindex.AnyText(message, func(_, text string) bool { return d.states(text) })
		}
		if !states(w.Matched.Bytes) {
			continue
		}
		f.Asserted(1)
		if !states(w.Bytes) {
			f.Problems = append(f.Problems, conformance.Problem{
				Line: w.Matched.Line, Text: fmt.Sprintf("the subject wrote the file %s to the runtime without its %s %q", name, d.what, d.value),
			})
		}
	}
}

// holdsFile reports whether a message holds a file: its bytes as the whole of a member, in base64
// or as text, or as the data URL of a picture or a file; or its path, if the adapter may read the
// file itself. A data URL in the words of the user, or as the address of a link, is no file: no
// runtime reads it.
func holdsFile(message []byte, name string, file []byte, byPath bool) bool {
	encoded := base64.StdEncoding.EncodeToString(file)
	return runindex.AnyText(message, func(member, text string) bool {
		return text == encoded || text == string(file) ||
			member == "url" && strings.HasPrefix(text, "data:") && strings.HasSuffix(text, ";base64,"+encoded) ||
			byPath && endsWithName(text, name)
	})
}

// endsWithName reports whether a path or an address ends with the name of a file.
func endsWithName(text, name string) bool {
	return strings.HasSuffix(text, "/"+name) || strings.HasSuffix(text, (&url.URL{Path: "/" + name}).EscapedPath())
}

// onCommandLine reports whether an option of a process names the file, or one with the same
// bytes.
func onCommandLine(r *conformance.Run, s fixtures.Step, name string) bool {
	return slices.ContainsFunc(r.Started, func(p standin.Started) bool {
		return slices.ContainsFunc(p.Attachments, func(b []byte) bool { return bytes.Equal(b, r.Scenario.Workspace[name]) }) ||
			s.ByPath && slices.ContainsFunc(p.Argv, func(a string) bool { return strings.HasSuffix(a, "/"+name) })
	})
}
