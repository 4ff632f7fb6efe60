package pi

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/ledger"
	"github.com/turnspec/turnspec/adapters/internal/lenient"
	"github.com/turnspec/turnspec/adapters/internal/session"
)

// translator converts the runtime's lines to events. The live adapter and
// transcripts share it. live is nil in a transcript.
type translator struct {
	l    *ledger.Ledger
	m    line
	live *client

	session string
	model   model

	messages     int    // of the model, so far
	messageID    string // of the message that is streamed
	spoken       []string
	userMessages int      // so far
	userMessage  *string  // the message of the user that has begun and not ended
	outcome      *outcome // of the run that ended, while its turn has not
	cancelWait   func()   // of the wait for a retry
	retrying     bool     // the runtime has announced another attempt
	compacting   bool     // a summary is being made
	command      bool     // the turn is a compaction that was asked for
	settles      bool     // the runtime speaks the newer dialect, which has agent_settled
	steering     []string // the texts of the queue
	followUps    []string //
	tools        []runningTool
	inputs       map[lenient.Num]string // the ids of the calls of the message, by the index of their part
	files        map[string]bool        // that the session has read or changed
	questions    session.Questions[*question]
	turnTokens   event.Tokens
}

// outcome is how a run of the agent ended.
type outcome struct {
	reason lenient.Str
	err    string
	text   string

	skipped bool // the line was too long to be read
}

// handleLine handles one line of stdout. The caller has set the ledger's time.
func (t *translator) handleLine(b []byte) {
	if len(bytes.Trim(b, " \t\r")) == 0 {
		return
	}
	t.m = line{}
	m := &t.m
	if err := json.Unmarshal(b, m, lenient.Options); err != nil || m.Type == "" {
		t.l.Unreadable(b)
		return
	}
	t.beginLate()
	switch m.Type {
	case "response":
		t.handleReply(b)
	case "session":
		if t.live == nil {
			t.l.SessionReady(event.SessionReady{Runtime: runtimeName, ProviderSessionID: string(m.ID), Cwd: string(m.Cwd)})
		}
	case "agent_start":
		t.runStarted()
	case "agent_end":
		t.runEnded()
	case "agent_settled":
		t.settle()
	case "message_start":
		t.messageStarted(b)
	case "message_update":
		t.handleUpdate(b)
	case "message_end":
		t.messageEnded()
	case "tool_execution_start":
		t.toolStarted()
	case "tool_execution_update":
		t.toolUpdated()
	case "tool_execution_end":
		t.toolEnded()
	case "queue_update":
		t.queueChanged()
	case "auto_retry_start":
		t.retryStarted()
	case "auto_retry_end":
		t.retryEnded()
	case "compaction_start":
		t.compactionStarted()
	case "compaction_end":
		t.compactionEnded()
	case "extension_ui_request":
		t.handleDialog(b)
	case "extension_error":
		t.l.Notice(event.LevelWarning, event.NoticeWarning, cmp.Or(string(m.Error), "an extension failed"), nil)
	default:
		if !isIgnored(string(m.Type)) {
			t.l.Unknown(string(t.m.Type), b)
		}
	}
}

// beginLate begins the turn of a transcript that begins within it.
func (t *translator) beginLate() {
	if t.live != nil || t.l.Ready() {
		return
	}
	switch t.m.Type {
	case "message_start", "message_update", "message_end", "tool_execution_start", "tool_execution_end", "turn_end", "agent_end":
		t.l.SessionReady(event.SessionReady{Runtime: runtimeName})
		t.runStarted()
	}
}

// handleReply handles a response. The replies that state something are read in a
// transcript too, because the commands are missing there.
func (t *translator) handleReply(b []byte) {
	m := &t.m
	if lenient.IsTrue(m.Success) {
		switch m.Command {
		case "get_state":
			t.stateReported(lenient.Decode[state](m.Data))
		case "set_model":
			t.modelSet(lenient.Decode[model](m.Data))
		}
	}
	if t.live != nil {
		t.live.handleReply(b)
	}
}

func (t *translator) stateReported(s state) {
	if s.SessionID == "" {
		return
	}
	t.session, t.model = string(s.SessionID), s.Model
	if t.live == nil {
		t.l.SessionReady(event.SessionReady{Runtime: runtimeName, ProviderSessionID: t.session, Model: string(t.model.ID)})
	}
}

func (t *translator) modelSet(m model) {
	if m.ID == "" || m.ID == t.model.ID && m.Provider == t.model.Provider {
		return
	}
	t.model = m
	t.l.Emit(event.ModelChanged{Value: string(m.ID)})
}

// runStarted handles agent_start. A run that repeats a failed one, and one that goes on
// after a compaction, are of the same turn.
func (t *translator) runStarted() {
	t.retrying = false
	t.stopWaiting()
	if t.l.Turn() != nil && !t.command {
		t.outcome = nil
		return
	}
	t.finishTurn()
	t.command = false
	d := event.TurnStart{Cause: event.CauseUser}
	if t.live != nil {
		d.MessageIDs = t.live.startingMessages()
	}
	t.turnTokens = event.Tokens{}
	t.l.TurnStart(d)
	if t.live != nil {
		t.live.early.TurnBegan()
	}
}

// runEnded handles agent_end. In the newer dialect the turn ends with agent_settled. In
// the older one it ends here, unless the runtime tries again: auto_retry_start follows
// then, and no line announces that.
func (t *translator) runEnded() {
	if t.l.Turn() == nil {
		return
	}
	t.emitUsage(t.m.Messages)
	o := outcomeOf(t.m.Messages)
	t.outcome, t.settles = &o, t.m.WillRetry != nil
	switch {
	case t.m.WillRetry != nil:
	case o.reason == "error" && isRetryable(o.err):
		t.awaitRetry()
	default:
		t.finishTurn()
	}
}

// runEndSkipped handles an agent_end that was too long to be read.
func (t *translator) runEndSkipped() {
	if t.l.Turn() == nil {
		return
	}
	t.outcome = &outcome{skipped: true}
	if !t.settles { // or it is not known yet
		t.finishTurn()
	}
}

// outcomeOf reads the last message of the model.
func outcomeOf(messages jsontext.Value) (o outcome) {
	for _, m := range lenient.Decode[[]message](messages) {
		if m.Role == "assistant" {
			o = outcome{reason: m.StopReason, err: string(m.ErrorMessage), text: textOf(m.Content)}
		}
	}
	return o
}

// settle handles agent_settled, the end of a turn in the newer dialect.
func (t *translator) settle() {
	if t.l.Turn() != nil && !t.command {
		t.finishTurn()
	}
}

// finishTurn ends the running turn with the outcome of its last run.
func (t *translator) finishTurn() {
	t.stopWaiting()
	o := t.outcome
	t.outcome, t.retrying, t.tools = nil, false, nil
	sc := t.l.Turn()
	if sc == nil {
		return
	}
	t.closeDialogs()
	switch {
	case o == nil:
		t.l.Done(event.Done{})
	case o.skipped:
		t.l.Error(session.EndSkipped())
	case o.stopped():
		t.l.Done(event.Done{Stopped: true})
	case o.reason == "error":
		if refusalWords.MatchString(o.err) { // the model has ended its reply
			t.endBlocks(event.BlockComplete)
		}
		t.l.Error(errorOf(o.err))
	default:
		if o.text != "" {
			sc.Emit(event.Result{Text: o.text})
		}
		d := event.Done{}
		if o.reason != "stop" {
			d.Reason = string(o.reason)
		}
		t.l.Done(d)
	}
	if t.live != nil {
		t.live.turnEnded()
	}
}

// messageStarted handles message_start.
func (t *translator) messageStarted(b []byte) {
	m := lenient.Decode[message](t.m.Message)
	switch m.Role {
	case "user":
		// A message that has not ended is the same one, repeated.
		if text := textOf(m.Content); t.userMessage == nil || *t.userMessage != text {
			t.userMessage = &text
			t.messageTaken(text)
		}
	case "assistant":
		t.messages++
		t.spoken = nil
		t.messageID = m.id(t.messages)
	case "toolResult", "system", "custom", "bashExecution", "branchSummary", "compactionSummary":
	default:
		t.l.Unknown(string(t.m.Type), b)
	}
}

// messageTaken handles a message of the user that the agent has read.
func (t *translator) messageTaken(text string) {
	sc := t.l.Turn()
	if sc == nil {
		return
	}
	d := event.UserMessage{Text: text, Via: event.ViaTurn}
	if i := slices.Index(t.steering, text); i >= 0 {
		d.Via, t.steering = event.ViaSteer, slices.Delete(t.steering, i, i+1)
	} else if i := slices.Index(t.followUps, text); i >= 0 {
		d.Via, t.followUps = event.ViaMerge, slices.Delete(t.followUps, i, i+1)
	}
	t.userMessages++
	d.MessageID = "user-" + strconv.Itoa(t.userMessages) // the wire has no id
	if t.live != nil {
		t.live.messageTaken(&d)
	}
	sc.Emit(d)
}

// queueChanged handles queue_update. A message that is taken leaves the queue before
// its own line comes, so the lists only grow here; messageTaken shortens them.
func (t *translator) queueChanged() {
	steering, followUps := lenient.Decode[[]string](t.m.Steering), lenient.Decode[[]string](t.m.FollowUp)
	if len(steering)+len(followUps) >= len(t.steering)+len(t.followUps) {
		t.steering, t.followUps = steering, followUps
	}
}

// handleUpdate handles a step of a message that is streamed. Only deltas count: snapshots
// of the message may be ahead of them.
func (t *translator) handleUpdate(b []byte) {
	u := lenient.Decode[update](t.m.Update)
	if !knownUpdates[string(u.Type)] {
		t.l.Unknown(string(t.m.Type), b)
		return
	}
	sc := t.l.Turn()
	if sc == nil {
		return
	}
	key := t.blockKey(u.Index)
	if strings.HasSuffix(string(u.Type), "_start") && len(t.m.Message) > 0 {
		// In the older dialect only the snapshot names the message.
		t.messageID = cmp.Or(string(lenient.Decode[message](t.m.Message).ResponseID), t.messageID)
	}
	switch u.Type {
	case "text_delta":
		if u.Delta != "" && !slices.Contains(t.spoken, key) {
			t.spoken = append(t.spoken, key)
		}
		sc.Delta(key, t.messageID, string(u.Delta))
	case "thinking_delta":
		if u.Delta != "" {
			sc.Thinking(key, string(u.Delta))
			if !slices.Contains(t.spoken, key) {
				t.spoken = append(t.spoken, key)
			}
		}
	case "toolcall_start":
		t.inputStarted(sc, &u)
	case "toolcall_delta":
		sc.Input(t.inputs[u.Index], string(u.Delta))
	case "thinking_end":
		if sc.ThinkingOpen(key) {
			sc.ThinkingDone()
		}
	}
}

func (t *translator) blockKey(index lenient.Num) string {
	return strconv.Itoa(t.messages) + "." + strconv.Itoa(int(index))
}

// messageEnded handles message_end. The blocks of a message that failed stay open until it
// is known whether the runtime tries again.
func (t *translator) messageEnded() {
	sc := t.l.Turn()
	m := lenient.Decode[message](t.m.Message)
	if m.Role == "user" {
		t.userMessage = nil
	}
	if sc == nil || m.Role != "assistant" {
		return
	}
	switch m.StopReason {
	case "error":
		return
	case "aborted":
		t.endBlocks(event.BlockInterrupted)
	default:
		t.endBlocks(event.BlockComplete)
	}
}

// endBlocks ends the blocks of the message that was streamed last.
func (t *translator) endBlocks(status event.BlockStatus) {
	sc := t.l.Turn()
	if sc == nil {
		return
	}
	if status != event.BlockRetracted {
		sc.ThinkingDone()
	}
	if status != event.BlockComplete {
		sc.DropInputs()
	}
	for _, key := range t.spoken {
		if sc.BlockOpen(key) {
			sc.BlockEnd(key, status, "")
		} else if status == event.BlockRetracted {
			sc.ThinkingRetract(key)
		}
	}
	t.spoken = nil
}
