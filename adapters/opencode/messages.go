package opencode

import (
	"cmp"
	"slices"
	"strings"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/ledger"
	"github.com/turnspec/turnspec/adapters/internal/lenient"
	"github.com/turnspec/turnspec/adapters/internal/opencodecli"
)

// messageUpdated handles a message that has come or changed.
func (t *translator) messageUpdated(a *agent, m info) {
	switch {
	case m.Time.Created != 0 && m.Time.Created < a.created:
		// The runtime reports the messages that it has copied to a fork as if they came now.
		t.ended = remember(t.ended, string(m.ID))
	case m.Role == "user":
		t.userMessageCame(a, m)
	case m.Role == "assistant":
		t.replyUpdated(a, m)
	}
}

// userMessageCame handles a message of the user. It comes again when it has changed.
func (t *translator) userMessageCame(a *agent, m info) {
	if a.sub || slices.Contains(t.users, string(m.ID)) {
		return
	}
	t.users = remember(t.users, string(m.ID))
	t.flushUser(a)
	t.endLostTurn()
	t.beginTurn()
	if !t.command {
		a.user = &userMessage{m.ID}
	}
}

// flushUser emits a message of the user whose text has not come.
func (t *translator) flushUser(a *agent) {
	if a.user == nil {
		return
	}
	if t.live != nil && len(t.live.sent) > 0 {
		t.emitUser(a, t.live.sent[0].Text)
	} else {
		t.emitUser(a, "")
	}
}

func (t *translator) emitUser(a *agent, text string) {
	d := event.UserMessage{MessageID: string(a.user.id), Text: text, Via: event.ViaTurn}
	a.user = nil
	sc := t.l.Turn()
	if sc == nil {
		return
	}
	if t.live != nil {
		t.live.messageTaken(&d)
	} else if len(a.replies) > 0 {
		d.Via = event.ViaMerge
	}
	sc.Emit(d)
}

// replyUpdated handles a reply of the model that has begun or ended.
func (t *translator) replyUpdated(a *agent, m info) {
	if slices.Contains(t.ended, string(m.ID)) {
		return
	}
	if !a.sub && t.l.Turn() == nil {
		if m.Time.Completed != 0 {
			return // it has changed after its turn
		}
		t.beginTurn()
	}
	t.flushUser(a)
	if lenient.IsTrue(m.Summary) {
		a.summary = m.ID
	}
	a.message = string(m.ID)
	a.replies[m.ID] = m.Time.Completed != 0
	if !a.sub {
		t.modelUsed(string(m.Provider), string(m.Model))
	}
	if m.Time.Completed == 0 {
		return
	}
	a.finish = m.Finish
	if len(m.Answer) > 0 {
		a.answer = string(m.Answer)
	}
	if len(m.Error) > 0 {
		if f := lenient.Decode[failure](m.Error); f.Name == opencodecli.Aborted {
			a.aborted = true
		} else if a.failure == nil {
			a.failure = &f
		}
	}
}

// modelUsed emits the model of a reply if it is another one than before.
func (t *translator) modelUsed(provider, model string) {
	if model == "" || t.model == model && t.provider == provider {
		return
	}
	t.provider, t.model = provider, model
	t.l.Emit(event.ModelChanged{Value: provider + "/" + model})
}

// summaryModel returns the model of a summary: the one that was used last.
func (t *translator) summaryModel() string {
	if t.model != "" {
		return t.provider + "/" + t.model
	}
	return t.live.model
}

// partUpdated handles a part of a message that has begun, changed or ended. delta is what was
// added to its text, which only versions before 1.2 state.
func (t *translator) partUpdated(a *agent, p part, delta string, b []byte) {
	if slices.Contains(t.ended, string(p.MessageID)) {
		return // it is late
	}
	switch p.Type {
	case "text", "reasoning", "tool":
		t.beginTranscriptTurn(a, string(p.MessageID))
	}
	switch p.Type {
	case "text", "reasoning":
		t.textUpdated(a, p, delta)
	case "tool":
		t.toolUpdated(a, p, b)
	case "step-finish":
		if t.scope(a) != nil {
			t.emitUsage(a, p)
			t.stepEnded(a, p)
		}
	case "compaction":
		t.compactionStarted(a)
	case "file":
		if _, ok := a.replies[p.MessageID]; ok {
			t.l.Notice(event.LevelInfo, event.NoticeUnknownMessage, "the reply has a file, which this adapter does not show", nil)
		}
	case "retry":
		if !t.retrying && t.scope(a) != nil {
			t.l.Notice(event.LevelWarning, event.NoticeRetry, opencodecli.ErrorOf(p.Error).Message, nil)
		}
	default:
		if !isKnownPart(string(p.Type)) {
			t.l.Unknown("a part of type "+string(p.Type), b)
		}
	}
}

// stepEnded counts the replies that have no end. The runtime goes on after each.
func (t *translator) stepEnded(a *agent, p part) {
	if p.Reason != "unknown" && p.Reason != "other" {
		a.unended = 0
		return
	}
	if a.unended++; a.unended >= maxUnended {
		t.giveUp(failure{Name: "the model's replies have no end"})
	}
}

// textUpdated handles a part of text or reasoning. That of a message of the user has no time,
// unless the runtime itself wrote it.
func (t *translator) textUpdated(a *agent, p part, delta string) {
	_, replied := a.replies[p.MessageID]
	if p.Time.Start == 0 && !replied || slices.Contains(t.users, string(p.MessageID)) {
		if t.beginsLate() && !replied && !a.sub && !lenient.IsTrue(p.Synthetic) {
			t.userMessageCame(a, info{ID: p.MessageID}) // its message may not be in the transcript
		}
		switch {
		case a.user == nil || a.user.id != p.MessageID:
		case lenient.IsTrue(p.Metadata.Continue): // the runtime's own message, after a summary within a turn
			a.user = nil
		case !lenient.IsTrue(p.Synthetic):
			t.emitUser(a, string(p.Text))
		}
		return
	}
	sc := t.scope(a)
	if sc == nil || p.MessageID == a.summary {
		return
	}
	id := string(p.ID)
	blk := a.parts[id]
	if blk == nil {
		if p.Time.End != 0 && (p.Text == "") {
			return // it was ended before
		}
		blk = &block{reasoning: p.Type == "reasoning", message: string(p.MessageID)}
		a.parts[id] = blk
		t.addText(a, sc, id, blk, cmp.Or(string(p.Text), delta))
	} else if p.Time.End == 0 {
		// Versions before 1.2 send no events for what is added, but the text so far.
		if rest, ok := strings.CutPrefix(string(p.Text), blk.text.String()); ok {
			t.addText(a, sc, id, blk, rest)
		} else {
			t.addText(a, sc, id, blk, delta)
		}
	}
	if p.Time.End == 0 {
		return
	}
	delete(a.parts, id)
	if rest, ok := strings.CutPrefix(string(p.Text), blk.text.String()); ok && blk.reasoning && strings.TrimSpace(rest) != "" {
		t.addText(a, sc, id, blk, rest) // reasoning cannot be replaced
	}
	a.text = string(p.Text)
	status, full := event.BlockComplete, ""
	switch streamed := blk.text.String(); {
	case a.aborted || a.failure != nil:
		status = event.BlockInterrupted
	case streamed == "":
		t.addText(a, sc, id, blk, string(p.Text))
	case strings.TrimSpace(streamed) != strings.TrimSpace(string(p.Text)): // the runtime cuts spaces off
		status, full = event.BlockReplaced, string(p.Text)
	}
	t.endBlock(sc, id, blk, status, full)
}

// partAdded handles a piece of a part.
func (t *translator) partAdded(a *agent, p properties) {
	if !slices.Contains(t.ended, string(p.MessageID)) {
		t.beginTranscriptTurn(a, string(p.MessageID))
	}
	sc := t.scope(a)
	if sc == nil || p.Field != "text" || p.MessageID == a.summary || slices.Contains(t.ended, string(p.MessageID)) {
		return
	}
	id := string(p.PartID)
	blk := a.parts[id]
	if blk == nil {
		blk = &block{message: string(p.MessageID)}
		a.parts[id] = blk
	}
	t.addText(a, sc, id, blk, string(p.Delta))
}

func (t *translator) addText(_ *agent, sc *ledger.Scope, id string, blk *block, text string) {
	if text == "" {
		return
	}
	blk.text.WriteString(text)
	if blk.reasoning {
		sc.Thinking(id, text)
	} else {
		sc.Delta(id, blk.message, text)
	}
}

func (t *translator) endBlock(sc *ledger.Scope, id string, blk *block, status event.BlockStatus, text string) {
	switch {
	case !blk.reasoning:
		sc.BlockEnd(id, status, text)
	case status == event.BlockRetracted:
		sc.ThinkingRetract(id)
	case sc.ThinkingOpen(id):
		sc.ThinkingDone()
	}
}
