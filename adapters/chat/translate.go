package chat

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/ledger"
)

// translator converts replies of the model to events. The live adapter and the Normalizer
// share it. live is nil in a transcript.
type translator struct {
	l     *ledger.Ledger
	live  *client
	model string

	line     []byte // that is handled
	replies  int    // of the model, so far
	attempts int    // of the current request that failed
	reply    reply
	turn     event.Tokens // of its replies
	spoken   []string     // the keys of the blocks of the reply, oldest first
	callIDs  map[string]bool
}

// reply is a reply of the model so far.
type reply struct {
	id, finish string
	text       string
	reasoning  reasoning
	texts      int  // how many blocks of text there were; reasoning comes between two
	thinkings  int  // and of reasoning
	thinks     bool // the last piece was reasoning
	calls      []*call
	last       event.Tokens
	open       bool // the stream has begun and not ended
}

func (t *translator) notice(level event.Level, code event.NoticeCode, text string, raw []byte) {
	t.l.Emit(event.Notice{Level: level, Code: code, Text: text, Raw: event.Raw(raw).Clone()})
}

// noticeBadLine emits a line that concerns no request as a notice.
func (t *translator) noticeBadLine(b []byte) {
	if len(bytes.TrimSpace(b)) > 0 && !jsontext.Value(b).IsValid(lenient) {
		t.notice(event.LevelWarning, event.NoticeGarbage, fmt.Sprintf("a line is not JSON and was skipped: %.200q", b), nil)
		return
	}
	t.notice(event.LevelInfo, event.NoticeUnknownMessage, "a line belongs to no request, or is not known to this adapter", b)
}

func (t *translator) startTurn(messages []string) {
	t.turn, t.attempts = event.Tokens{}, 0
	t.l.TurnStart(event.TurnStart{Cause: event.CauseUser, MessageIDs: messages})
}

// replyBegan handles the first line of a stream.
func (t *translator) replyBegan() {
	t.replies++
	t.reply, t.spoken = reply{open: true}, nil
}

// handleEvent handles an event of a stream, or a line within it that is none. It returns why
// the reply failed, if it did.
func (t *translator) handleEvent(l *replyLine) *failure {
	if l.Text != nil && !strings.HasPrefix(*l.Text, "[DONE]") {
		return connectionFailed(errors.New("an event of the stream is not JSON"))
	}
	if l.Data == nil {
		return nil
	}
	var c chunk
	if err := json.Unmarshal(l.Data, &c, lenient); err != nil {
		return connectionFailed(fmt.Errorf("an event of the stream cannot be read: %w", err))
	}
	if c.Error != nil && c.Error.Kind() != 'n' {
		return streamFailure(c.Error)
	}
	t.handleChunk(&c)
	return nil
}

func (t *translator) handleChunk(c *chunk) {
	r, sc := &t.reply, t.l.Turn()
	if sc == nil {
		return
	}
	r.id = cmp.Or(c.ID, r.id)
	if c.Usage != nil {
		t.addUsage(c.Usage)
	}
	if len(c.Choices) == 0 {
		if c.Usage == nil && c.Choices == nil {
			t.notice(event.LevelInfo, event.NoticeUnknownMessage, "an event of the stream is not known to this adapter", t.line)
		}
		return
	}
	d := &c.Choices[0].Delta
	if text := d.text(); text != "" {
		t.addReasoning(sc, d.reasoning, text)
	}
	if text := d.Content + d.Refusal; text != "" {
		r.text += text
		if r.thinks || r.texts == 0 {
			r.thinks = false
			r.texts++
		}
		key := strconv.Itoa(t.replies) + ".text" + strconv.Itoa(r.texts)
		t.remember(key)
		sc.Delta(key, r.id, text)
	}
	for i := range d.ToolCalls {
		r.addCall(&d.ToolCalls[i]).emitInput(sc)
	}
	r.finish = cmp.Or(c.Choices[0].FinishReason, r.finish)
}

func (t *translator) addReasoning(sc *ledger.Scope, d reasoning, text string) {
	r := &t.reply
	if !r.thinks {
		r.thinks = true
		r.thinkings++
	}
	r.reasoning.add(d)
	key := strconv.Itoa(t.replies) + ".thinking" + strconv.Itoa(r.thinkings)
	t.remember(key)
	sc.Thinking(key, text)
}

func (t *translator) remember(key string) {
	if !slices.Contains(t.spoken, key) {
		t.spoken = append(t.spoken, key)
	}
}

// addUsage adds the tokens of a reply to those of the turn. A server may report them more
// than once; the last report counts.
func (t *translator) addUsage(u *usage) {
	was := t.reply.last
	now := u.tokens()
	t.turn.Input += now.Input - was.Input
	t.turn.Cached += now.Cached - was.Cached
	t.turn.Output += now.Output - was.Output
	t.turn.Reasoning += now.Reasoning - was.Reasoning
	t.turn.Total += now.Total - was.Total
	t.reply.last = now
}

// replyEnded handles the end of a request: the reply is complete, or f says why it is not.
func (t *translator) replyEnded(f *failure) {
	t.reply.open = false
	sc := t.l.Turn()
	if sc == nil {
		return
	}
	if f == nil && t.reply.finish == "" {
		f = &failure{code: event.ErrorNetwork, message: "the stream ended without a reason", retryable: true}
	}
	if f != nil {
		t.requestFailed(f)
		return
	}
	t.attempts = 0
	t.endBlocks(event.BlockComplete)
	t.emitUsage()
	r := t.reply
	if r.wasCut() {
		sc.DropInputs()
		r.calls = nil // the arguments of the last one may be incomplete
	}
	t.nameCalls(r.calls)
	if t.live != nil {
		t.live.appendReply(&r, r.calls)
	}
	if len(r.calls) == 0 {
		d := event.Done{}
		if r.finish != "stop" {
			d.Reason = r.finish
		}
		if r.text != "" {
			sc.Emit(event.Result{Text: r.text})
		}
		t.endTurn(d)
		if t.live != nil {
			t.live.takeMessage()
		}
		return
	}
	for _, k := range r.calls {
		sc.ToolStart(event.ToolStart{ToolUseID: k.id, Tool: t.toolName(k.name), Input: k.input(), MessageID: r.id})
	}
	if t.live != nil {
		t.live.runCalls(r.calls)
	}
}

// nameCalls gives an id to each call that has none, or one that an earlier call has: some
// servers send none, or count from the start in each reply. The next request repeats the ids.
func (t *translator) nameCalls(calls []*call) {
	if t.callIDs == nil {
		t.callIDs = map[string]bool{}
	}
	for i, k := range calls {
		if k.id == "" || t.callIDs[k.id] {
			k.id = fmt.Sprintf("%s.%d.%d", cmp.Or(k.id, "call"), t.replies, i+1)
		}
		t.callIDs[k.id] = true
	}
}

// toolName returns the name of a tool in events. The model knows those of MCP servers by other
// names, which a transcript has too.
func (t *translator) toolName(offered string) string {
	if t.live != nil {
		if tool := t.live.toolOffered(offered); tool != nil {
			return tool.Name
		}
	}
	return offered
}

// wasCut reports whether the reply ended before the model had finished it.
func (r *reply) wasCut() bool { return r.finish == "length" || r.finish == "content_filter" }

// endBlocks ends the blocks of the reply.
func (t *translator) endBlocks(status event.BlockStatus) {
	sc := t.l.Turn()
	if sc == nil {
		return
	}
	if status != event.BlockRetracted {
		sc.ThinkingDone()
	}
	if status == event.BlockRetracted {
		sc.DropInputs()
	}
	for _, key := range slices.Backward(t.spoken) {
		if sc.BlockOpen(key) {
			sc.BlockEnd(key, status, "")
		} else if status == event.BlockRetracted {
			sc.ThinkingRetract(key)
		}
	}
	t.spoken = nil
}

// endTurn ends the running turn.
func (t *translator) endTurn(d event.Done) {
	t.l.Done(d)
	t.reply = reply{}
}

// endAtLimit ends a turn that has used up its requests.
func (t *translator) endAtLimit(requests int) {
	t.l.Error(event.Error{Code: event.ErrorLimit, Message: fmt.Sprintf("the turn has asked the model %d times, which is its limit", requests)})
	t.reply = reply{}
}

// emitUsage emits the tokens of the turn so far, if the last reply stated its own.
func (t *translator) emitUsage() {
	if t.reply.last != (event.Tokens{}) {
		t.l.Emit(event.Usage{Tokens: t.turn, Scope: event.ScopeTurn})
	}
}
