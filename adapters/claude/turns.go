package claude

import (
	"slices"
	"strings"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/ledger"
)

// turnState is the state of the running turn, or of the last one.
type turnState struct {
	anyTurn          bool // a turn has begun in this session: lines between turns are late
	interrupted      bool // stopped by the client, or reported as stopped
	retrying         bool // a retry was announced
	compactionFailed bool // a compaction failed and a notice reported it
	initSeen         bool // the turn's init arrived
	done             bool // the message that started it was completed
	messages         int  // user messages emitted in it
	taskEnded        bool // a task ended since the last turn: the next one may be about it
	failure          *event.Error
	headUUID         string // uuid of the first message that it took
	lastResult       string
	context          float64 // tokens in the context of the last request
}

// lineScope returns the scope of a line, or nil if the line is late.
func (t *translator) lineScope(ln *line) *ledger.Scope {
	if p := ln.ParentToolUseID.get(); p != "" {
		return t.agentScope(p, ln.AgentID.get(), ln)
	}
	if s := t.l.Turn(); s != nil {
		return s
	}
	if t.live == nil && !t.turn.anyTurn || len(t.queue.started) > 0 || t.live != nil && t.queue.knowsNext() {
		t.startTurn()
		return t.l.Turn()
	}
	return nil
}

// startTurn starts a turn, if none runs. Without lifecycles a turn after the end of a task is about
// the task, and not about the message that waits: its echo would follow.
func (t *translator) startTurn() {
	if t.l.Turn() != nil {
		return
	}
	t.startTurnWith(t.queue.takeForTurn(t.turn.taskEnded))
}

// startTurnWith starts a turn that takes messages.
func (t *translator) startTurnWith(taken []queuedMessage) {
	cause := event.CauseUser
	if len(taken) == 0 && (t.live != nil || t.queue.hasLifecycle || t.turn.taskEnded) {
		cause = event.CauseTask
	}
	ids := make([]string, 0, len(taken))
	for _, m := range taken {
		if m.internal {
			cause = event.CauseCommand
			continue
		}
		ids = append(ids, m.id)
	}
	if !t.l.Ready() && t.live == nil && t.provider != "" {
		t.l.SessionReady(event.SessionReady{Runtime: runtimeName, ProviderSessionID: t.provider})
	}
	t.turn.anyTurn = true
	t.l.TurnStart(event.TurnStart{Cause: cause, MessageIDs: ids})
	for _, m := range taken {
		t.messageTaken(m)
	}
	t.emitQueue()
	if t.live != nil {
		t.live.early.TurnBegan()
	}
}

// startTurnWithoutInit starts a turn for a message of the model between two turns
// of a transcript that has no init lines: other tools filter them. A message of the
// last turn, or one without an id, is late.
func (t *translator) startTurnWithoutInit(messageID string) {
	if t.live == nil && t.turn.anyTurn && messageID != "" && !t.stream.isLate(messageID) {
		t.startTurn()
	}
}

// messageTaken emits that the running turn has taken a message.
func (t *translator) messageTaken(m queuedMessage) {
	if t.turn.headUUID == "" {
		t.turn.headUUID = m.uuid
	}
	if m.internal {
		return
	}
	via := event.ViaMerge
	if t.turn.messages == 0 {
		via = event.ViaTurn
	}
	t.turn.messages++
	if !m.textKnown { // the text may come in an echo
		m.via = via
		if len(t.queue.awaitingText) >= maxMessages { // no echo arrives
			t.queue.awaitingText = slices.Delete(t.queue.awaitingText, 0, 1)
		}
		t.queue.awaitingText = append(t.queue.awaitingText, m)
		return
	}
	if s := t.l.Turn(); s != nil {
		s.Emit(event.UserMessage{MessageID: m.id, Text: m.text, Attachments: m.attachments, Via: via})
		if t.live != nil && t.live.o.Checkpoints {
			s.Emit(event.Checkpoint{CheckpointID: m.id, Action: event.CheckpointCreated})
		}
	}
}

// emitQueue emits the waiting messages, if they changed.
func (t *translator) emitQueue() {
	ids := t.queue.waitingIDs()
	if !slices.Equal(ids, t.queue.emitted) {
		t.queue.emitted = ids
		t.l.Queue(ids)
	}
}

// handleResult ends a turn.
func (t *translator) handleResult(ln *line) {
	if ln.UUID != "" && ln.UUID == t.turn.lastResult {
		return // a duplicate
	}
	if t.live != nil && !t.live.isReady {
		t.live.resultBeforeReady(errorText(ln))
		return
	}
	if !t.turn.anyTurn && ln.NumTurns == 0 && ln.IsError {
		t.turn.lastResult = ln.UUID
		t.l.Error(event.Error{Message: errorText(ln), Code: event.ErrorInvalid})
		return
	}
	if ln.Origin.ofNotification() && t.l.Turn() == nil {
		if ln.Result == "" && !ln.IsError {
			t.turn.lastResult, t.turn.taskEnded = ln.UUID, false
			return // nothing was said: the model was not asked
		}
		t.startTurnWith(nil)
	}
	s := t.lineScope(ln)
	if s == nil {
		return // late
	}
	t.cancelQuestions("")
	t.emitUsage(s, ln)
	aborted := strings.HasPrefix(string(ln.TerminalReason), "aborted")
	failed := ln.IsError || strings.HasPrefix(string(ln.Subtype), "error") // older versions set only one of the two
	switch {
	case aborted, failed && t.turn.interrupted:
		t.l.Done(event.Done{Stopped: true, Reason: string(ln.TerminalReason)})
	case failed:
		t.l.Error(resultError(ln, t.turn.failure))
	default:
		if f := t.turn.failure; f != nil { // the turn continued after it
			s.Emit(event.Notice{Level: event.LevelWarning, Code: event.NoticeWarning, Text: f.Message})
		}
		if ln.Result != "" && !t.turn.compactionFailed {
			s.Emit(event.Result{Text: string(ln.Result),
				Stats: &event.Stats{DurationMS: int64(ln.DurationMS), Rounds: int(ln.NumTurns)}})
		}
		d := event.Done{Stopped: t.turn.interrupted && t.turn.compactionFailed}
		if ln.TerminalReason != "completed" {
			d.Reason = string(ln.TerminalReason)
		}
		t.l.Done(d)
	}
	t.endTurn(ln.UUID)
}

// resultMissing returns the error of a turn whose result never came.
func resultMissing() event.Error {
	return event.Error{Code: event.ErrorProtocol, Message: "the turn's result is missing"}
}

// endWithoutResult ends a turn whose result was not read.
func (t *translator) endWithoutResult(e event.Error) {
	t.cancelQuestions("")
	t.l.Error(e)
	t.endTurn("")
}

// endTurn resets the state of the turn that has ended.
func (t *translator) endTurn(result string) {
	t.stream.endTurn()
	t.dropTools("")
	t.queue.awaitingText = nil
	clear(t.denied)
	last := t.turn.lastResult
	if result != "" {
		last = result
	}
	t.turn = turnState{anyTurn: true, lastResult: last}
}

// noteContext records the context size of the main agent's last request.
func (t *translator) noteContext(u *usage) {
	if u == nil {
		return
	}
	if n := u.Input + u.CacheCreate + u.CacheRead; n > 0 {
		t.turn.context = n + u.Output
	}
}

// emitUsage emits the turn's tokens and the session's cost.
func (t *translator) emitUsage(s *ledger.Scope, ln *line) {
	u := ln.Usage
	if u == nil {
		return
	}
	d := event.Usage{Cost: ln.Cost, Scope: event.ScopeTurn, Tokens: event.Tokens{
		Input: int64(u.Input + u.CacheCreate + u.CacheRead), Cached: int64(u.CacheRead),
		Output: int64(u.Output), Reasoning: int64(u.Details.Thinking),
	}}
	d.Tokens.Total = d.Tokens.Input + d.Tokens.Output
	if w := ln.ModelUsage.Window; w > 0 && t.turn.context > 0 {
		d.Context = &event.Context{Used: int64(t.turn.context), Window: int64(w)}
	}
	s.Emit(d)
}
