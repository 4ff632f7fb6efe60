package turn

import (
	"encoding/base64"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
	"github.com/turnspec/turnspec/fixtures"
)

// UserMessages is the check turn.user-messages.
var UserMessages = &conformance.Check{
	ID: "turn.user-messages", Source: "chats in which interrupt markers, summaries and reminders appear as words of the user", Tiers: []conformance.Tier{conformance.TierWitness, conformance.TierLive},
	Judges:   []string{"user_message", "user_message.message_id", "user_message.text", "user_message.via", "user_message.attachments", "user_message.attachments.kind", "user_message.attachments.name", "user_message.attachments.path", "user_message.attachments.url", "user_message.attachments.mime", "turn_start.cause", "turn_start.message_ids"},
	Needs:    []string{"user_message", "turn"},
	Mend:     "Emit user_message only for messages that the client sent, with the text as sent. Skip user lines that the runtime writes itself: tool results, interrupt markers, reminders, summaries.",
	Sentence: "user_message holds a message of the user, as it was sent, and nothing else. A turn that a message began names it, and each message names how it entered the turn.",
	Judge:    judgeUserMessages,
}

func judgeUserMessages(t *conformance.Trial, f *conformance.Finding) {
	sent := map[string]fixtures.Step{}
	for _, a := range t.Steps {
		if a.Step.Verb == fixtures.VerbSend || a.Step.Verb == fixtures.VerbSteer {
			sent[a.Step.ID] = a.Step
		}
	}
	messages := map[int][]*runindex.Message{}
	for _, m := range runindex.Of(t.Run).Messages() {
		f.Asserted(1)
		messages[m.Turn] = append(messages[m.Turn], m)
		step, ok := sent[m.Data.MessageID]
		switch {
		case !ok:
			f.At(m.Event, "the user sent no message %s: %q", m.Data.MessageID, runindex.Clip(m.Data.Text))
			continue
		case m.Data.Text != step.Text:
			f.Diff("the text of message "+step.ID+" is not what the user sent", step.Text+"\n", m.Data.Text+"\n")
		case (m.Data.Via == event.ViaSteer) != (step.Verb == fixtures.VerbSteer):
			f.At(m.Event, "message %s was the step %s, but its user_message has via %q", step.ID, step.Verb, m.Data.Via)
		}
		if t.Supports("user_message.attachments") {
			judgeAttachments(t, f, m, step)
		}
	}
	for e, d := range runindex.EventsOf[event.TurnStart](t.Run) {
		if e.SubagentID != "" {
			continue
		}
		f.Asserted(1)
		if (d.Cause == event.CauseUser) != (len(d.MessageIDs) > 0) && t.Supports("turn_start.cause") {
			f.At(e, "turn %d has the cause %s and the messages %v", e.Turn, d.Cause, d.MessageIDs)
		}
		judgeVia(f, e, d, messages[e.Turn])
	}
}

// judgeVia judges the messages of a turn: those that began it, and those that entered
// it later.
func judgeVia(f *conformance.Finding, e conformance.Event, d event.TurnStart, messages []*runindex.Message) {
	for i, id := range d.MessageIDs {
		n := slices.IndexFunc(messages, func(m *runindex.Message) bool { return m.Data.MessageID == id })
		switch {
		case n < 0:
			f.At(e, "message %s began turn %d, but no user_message of that turn holds it", id, e.Turn)
		case i == 0 && messages[n].Data.Via != event.ViaTurn:
			f.At(messages[n].Event, "message %s began turn %d, but its user_message has via %q", id, e.Turn, messages[n].Data.Via)
		}
	}
	for _, m := range messages {
		if m.Data.Via == event.ViaTurn && !slices.Contains(d.MessageIDs, m.Data.MessageID) {
			f.At(m.Event, "message %s did not begin turn %d, but its user_message has via %q", m.Data.MessageID, e.Turn, m.Data.Via)
		}
	}
}

// judgeAttachments compares the attachments of a message with the files that were
// sent with it.
func judgeAttachments(t *conformance.Trial, f *conformance.Finding, m *runindex.Message, step fixtures.Step) {
	if len(m.Data.Attachments) != len(step.Files) {
		f.At(m.Event, "message %s was sent with %d files, but its user_message has %d", step.ID, len(step.Files), len(m.Data.Attachments))
		return
	}
	for i, a := range m.Data.Attachments {
		f.Asserted(1)
		mime, name := fixtures.MIME(step.Files[i]), step.Files[i]
		data := base64.StdEncoding.EncodeToString(t.Scenario.Workspace[name])
		switch {
		case a.MIME != "" && a.MIME != mime, a.Name != "" && a.Name != name:
			f.At(m.Event, "file %d of message %s is %s (%s), but its user_message has %s (%s)", i+1, step.ID, name, mime, a.Name, a.MIME)
		case (a.Kind == "image") != strings.HasPrefix(mime, "image/"):
			f.At(m.Event, "file %d of message %s is of type %s, but its user_message has the kind %q", i+1, step.ID, mime, a.Kind)
		case strings.HasPrefix(a.URL, "data:") && !strings.HasSuffix(a.URL, ";base64,"+data):
			f.At(m.Event, "file %d of message %s is %s, but the URL in its user_message holds other bytes", i+1, step.ID, name)
		case a.Path != "" && !namesFile(t.Run, a.Path, name):
			f.At(m.Event, "file %d of message %s is %s, but its user_message has the path %s", i+1, step.ID, name, a.Path)
		case a.Name == "" && t.Supports("user_message.attachments.name"), a.MIME == "" && t.Supports("user_message.attachments.mime"):
			f.At(m.Event, "the user_message of %s lacks the name or the type of file %d, %s (%s)", step.ID, i+1, name, mime)
		case a.Path == "" && a.URL == "" && (t.Supports("user_message.attachments.url") || t.Supports("user_message.attachments.path")):
			f.At(m.Event, "the user_message of %s has neither a URL nor a path of file %d, %s", step.ID, i+1, name)
		}
	}
}

// namesFile reports whether a path is that of a file in the folder of a session. One of the two
// may go through a link, as /var does on macOS.
func namesFile(r *conformance.Run, file, name string) bool {
	slashed := filepath.ToSlash(file)
	if !path.IsAbs(slashed) && filepath.VolumeName(file) == "" {
		return path.Clean(slashed) == name
	}
	known := false
	for _, d := range runindex.EventsOf[event.SessionReady](r) {
		want := path.Join(filepath.ToSlash(d.Cwd), name)
		if known = known || d.Cwd != ""; d.Cwd != "" && (strings.HasSuffix(slashed, want) || strings.HasSuffix(want, slashed)) {
			return true
		}
	}
	return !known && strings.HasSuffix(slashed, "/"+name)
}
