package claude

import (
	"slices"
	"strings"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/ledger"
)

// turnState is what is known of the running turn, or of the last one.
type turnState struct {
	any         bool // a turn has begun, ever: what comes between turns is late
	interrupted bool // it was stopped, or the runtime said so
	retrying    bool // a retry was announced
	uncompacted bool // a compaction failed, which was told
	inited      bool // the runtime's init for it came
	done        bool // the runtime is done with the message that began it
	messages    int  // user messages told in it
	notified    bool // a task ended since the last turn: the next one may be about it
	failure     *event.Error
	head        string // uuid of the first message that it took
	lastResult  string
	context     float64 // tokens that the last request used
}

// scope is where the line belongs, or nil when it belongs to nothing any more.
func (t *translator) scope(ln *line) *ledger.Scope {
	if p := ln.ParentToolUseID.get(); p != "" {
		return t.agentScope(p, ln.AgentID.get(), ln)
	}
	if s := t.l.Turn(); s != nil {
		return s
	}
	if t.client == nil && !t.turn.any || len(t.mail.taking) > 0 || t.client != nil && t.mail.first() {
		t.begin()
		return t.l.Turn()
	}
	return nil
}

// begin starts the turn that the runtime has begun, if none runs.
func (t *translator) begin() {
	if t.l.Turn() != nil {
		return
	}
	took := t.mail.takeForTurn()
	cause := event.CauseUser
	if len(took) == 0 && (t.client != nil || t.turn.notified) {
		cause = event.CauseTask
	}
	ids := make([]string, 0, len(took))
	for _, m := range took {
		if m.command {
			cause = event.CauseCommand
			continue
		}
		ids = append(ids, m.id)
	}
	if !t.l.Ready() && t.client == nil && t.provider != "" {
		t.l.SessionReady(event.SessionReady{Runtime: runtimeName, ProviderSessionID: t.provider})
	}
	t.turn.any = true
	t.l.TurnStart(event.TurnStart{Cause: cause, MessageIDs: ids})
	for _, m := range took {
		t.tell(m)
	}
	t.queue()
	if t.client != nil {
		t.client.begun()
	}
}

// tell says that the running turn has taken a message.
func (t *translator) tell(m letter) {
	if t.turn.head == "" {
		t.turn.head = m.uuid
	}
	if m.command {
		return
	}
	via := event.ViaMerge
	if t.turn.messages == 0 {
		via = event.ViaTurn
	}
	t.turn.messages++
	if !m.known { // the text may come in an echo
		m.via = via
		if len(t.mail.untold) >= maxPast { // no echoes come
			t.mail.untold = slices.Delete(t.mail.untold, 0, 1)
		}
		t.mail.untold = append(t.mail.untold, m)
		return
	}
	if s := t.l.Turn(); s != nil {
		s.Emit(event.UserMessage{MessageID: m.id, Text: m.text, Attachments: m.attachments, Via: via})
		if t.client != nil && t.client.checkpoints() {
			s.Emit(event.Checkpoint{CheckpointID: m.id, Action: event.CheckpointCreated})
		}
	}
}

// queue tells what waits, if that changed.
func (t *translator) queue() {
	ids := t.mail.queued()
	if !slices.Equal(ids, t.mail.told) {
		t.mail.told = ids
		t.l.Queue(ids)
	}
}

// result ends a turn.
func (t *translator) result(ln *line) {
	if ln.UUID != "" && ln.UUID == t.turn.lastResult {
		return // the same end twice
	}
	if t.client != nil && !t.client.ready() {
		t.client.resultBeforeReady(errorsOf(ln))
		return
	}
	if !t.turn.any && ln.NumTurns == 0 && ln.IsError {
		t.turn.lastResult = ln.UUID
		t.l.Error(event.Error{Message: errorsOf(ln), Code: event.ErrorInvalid})
		return
	}
	s := t.scope(ln)
	if s == nil {
		return // late
	}
	t.closeAsks()
	t.usage(s, ln)
	aborted := strings.HasPrefix(string(ln.TerminalReason), "aborted")
	failed := ln.IsError || strings.HasPrefix(string(ln.Subtype), "error") // older versions say only one of the two
	switch {
	case aborted, failed && t.turn.interrupted:
		t.l.Done(event.Done{Stopped: true, Reason: string(ln.TerminalReason)})
	case failed:
		t.l.Error(resultError(ln, t.turn.failure))
	default:
		if f := t.turn.failure; f != nil { // the turn went on after it
			s.Emit(event.Notice{Level: event.LevelWarning, Code: event.NoticeWarning, Text: f.Message})
		}
		if ln.Result != "" && !t.turn.uncompacted {
			s.Emit(event.Result{Text: string(ln.Result),
				Stats: &event.Stats{DurationMS: int64(ln.DurationMS), Rounds: int(ln.NumTurns)}})
		}
		d := event.Done{Stopped: t.turn.interrupted && t.turn.uncompacted}
		if ln.TerminalReason != "completed" {
			d.Reason = string(ln.TerminalReason)
		}
		t.l.Done(d)
	}
	t.endTurn(ln.UUID)
}

// lost ends a turn whose result can come no more.
func (t *translator) lost() {
	t.closeAsks()
	t.l.Error(event.Error{Code: event.ErrorProtocol, Message: "the turn's result is missing"})
	t.endTurn("")
}

// endTurn forgets what belongs to the turn that has ended.
func (t *translator) endTurn(result string) {
	t.open.endTurn()
	t.forgetTools("")
	t.mail.untold = nil
	clear(t.denied)
	last := t.turn.lastResult
	if result != "" {
		last = result
	}
	t.turn = turnState{any: true, lastResult: last}
}

// used keeps how much of the window the last request of the main agent used.
func (t *translator) used(u *usage) {
	if u == nil {
		return
	}
	if n := u.Input + u.CacheCreate + u.CacheRead; n > 0 {
		t.turn.context = n + u.Output
	}
}

// usage reports the turn's tokens and the session's cost.
func (t *translator) usage(s *ledger.Scope, ln *line) {
	u := ln.Usage
	if u == nil {
		return
	}
	d := event.Usage{Cost: ln.Cost, Tokens: event.Tokens{
		Input: int64(u.Input + u.CacheCreate + u.CacheRead), Cached: int64(u.CacheRead),
		Output: int64(u.Output), Reasoning: int64(u.Details.Thinking),
	}}
	d.Tokens.Total = d.Tokens.Input + d.Tokens.Output
	if w := ln.ModelUsage.Window; w > 0 && t.turn.context > 0 {
		d.Context = &event.Context{Used: int64(t.turn.context), Window: int64(w)}
	}
	s.Emit(d)
}
