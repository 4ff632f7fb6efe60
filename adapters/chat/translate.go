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
	"github.com/turnspec/turnspec/adapters/internal/lenient"
)

// translator converts replies of the model to events. The live adapter and transcripts
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
	reported event.Tokens // the part of turn that was emitted
	spoken   []string     // the keys of the blocks of the reply, oldest first
	callIDs  map[string]bool
	failed   *failure // in a transcript: a request that may have been sent again
}

// reply is a reply of the model so far.
type reply struct {
	id, finish string
	text       string
	thoughts   string // all of the reasoning
	reasoning  reasoning
	texts      int  // how many blocks of text there were; reasoning comes between two
	thinkings  int  // and of reasoning
	thinks     bool // the last piece was reasoning
	calls      []*call
	fresh      int // calls[fresh:] came with the current delta
	last       event.Tokens
	open       bool        // the stream has begun and not ended
	ended      bool        // the server has sent [DONE], or a whole reply
	choice     lenient.Num // the index of the choice that is read
	choices    bool        // a choice has come
	others     bool        // a notice about other choices was emitted
	pieces     bool        // its messages hold pieces, and not what has come so far
	chunks     int         // how many chunks there were
}

// blank reports whether the model has said nothing so far.
func (r *reply) blank() bool { return r.text == "" && r.thoughts == "" && len(r.calls) == 0 }

// noticeBadLine emits a line that concerns no request as a notice.
func (t *translator) noticeBadLine(b []byte) {
	if len(bytes.TrimSpace(b)) > 0 && !jsontext.Value(b).IsValid(lenient.Options) {
		t.l.Unreadable(b)
		return
	}
	t.l.Notice(event.LevelInfo, event.NoticeUnknownMessage, "a line belongs to no request, or is not known to this adapter", b)
}

func (t *translator) startTurn(messages []string) {
	t.turn, t.reported, t.attempts = event.Tokens{}, event.Tokens{}, 0
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
	if l.Text != nil {
		if !strings.HasPrefix(*l.Text, endOfStream) {
			return connectionFailed(errors.New("an event of the stream is not JSON"))
		}
		t.reply.ended = true
	}
	if l.Data == nil {
		return nil
	}
	return t.handleData(l.Data, l.Event)
}

// endOfStream is the last event of a stream.
const endOfStream = "[DONE]"

// handleBody handles the body of a reply that is not streamed. It returns why the reply
// failed, if it did.
func (t *translator) handleBody(l *replyLine) *failure {
	switch {
	case l.Text != nil:
		return connectionFailed(fmt.Errorf("the reply is neither a stream nor JSON: %.200q", *l.Text))
	case l.Body == nil:
		return nil
	}
	t.reply.ended = true
	return t.handleData(l.Body, "")
}

// handleData handles an event of a stream or a body. It returns why the reply failed, if it
// did.
func (t *translator) handleData(data jsontext.Value, name string) *failure {
	var c chunk
	if err := json.Unmarshal(data, &c, lenient.Options); err != nil {
		return connectionFailed(fmt.Errorf("an event of the stream cannot be read: %w", err))
	}
	switch {
	case hasValue(c.Error):
		return streamFailure(c.Error)
	case c.Choices == nil && (c.Object == "error" || name == "error"): // vLLM names the object so
		return streamFailure(data)
	}
	return t.handleChunk(&c)
}

// handleChunk handles the choice and the usage of a chunk. It returns why the reply failed,
// if it did.
func (t *translator) handleChunk(c *chunk) *failure {
	r, sc := &t.reply, t.l.Turn()
	if sc == nil {
		return nil
	}
	r.id = cmp.Or(string(c.ID), r.id)
	u := cmp.Or(c.Usage.usage, c.Groq.Usage.usage)
	k := t.choiceOf(c)
	if k != nil {
		u = cmp.Or(u, k.Usage.usage)
	}
	if u != nil {
		t.addUsage(u)
	}
	switch {
	case k == nil && u == nil && c.Choices == nil:
		t.l.Notice(event.LevelInfo, event.NoticeUnknownMessage, "an event of the stream is not known to this adapter", t.line)
	case k != nil:
		return t.handleChoice(sc, c, k, u != nil)
	}
	return nil
}

// choiceOf returns the choice of a chunk that is read, or nil. Other choices of a reply are
// alternatives to it, for which requests of this adapter do not ask.
func (t *translator) choiceOf(c *chunk) (found *choice) {
	r := &t.reply
	for i := range c.Choices {
		k := &c.Choices[i]
		if !r.choices {
			r.choices, r.choice = true, k.Index
		}
		if k.Index == r.choice && found == nil {
			found = k
		} else if !r.others {
			r.others = true
			t.l.Notice(event.LevelInfo, event.NoticeUnknownMessage, "the reply has several choices, of which this adapter reads the first", t.line)
		}
	}
	return found
}

func (t *translator) handleChoice(sc *ledger.Scope, c *chunk, k *choice, hasUsage bool) *failure {
	r := &t.reply
	added := t.addDelta(sc, &k.Delta)
	k.Text.each(func(text string, _ bool) { t.addText(sc, text); added = true })
	if k.Message != nil {
		added = t.addMessage(sc, k, c.whole()) || added
	}
	if c.whole() {
		r.ended = true
	}
	if hasValue(k.Error) {
		return streamFailure(k.Error)
	}
	r.finish = cmp.Or(string(k.FinishReason), r.finish)
	if r.finish == "error" {
		return &failure{code: event.ErrorModel, message: "the model's server ended the reply with an error", retryable: true}
	}
	r.chunks++
	begins := r.chunks == 1 && (k.Delta.opens() || k.Message != nil && k.Message.opens())
	if !added && !hasUsage && !begins && k.FinishReason == "" && (k.Delta.hasOther() || k.Message != nil && k.Message.hasOther()) {
		t.l.Notice(event.LevelInfo, event.NoticeUnknownMessage, "a delta is not known to this adapter", t.line)
	}
	return nil
}

// addDelta emits what a delta adds to the reply. It reports whether the delta had any of
// that, or something about which it emitted a notice.
func (t *translator) addDelta(sc *ledger.Scope, d *delta) bool {
	r := &t.reply
	thoughts, member := d.thoughts()
	added := t.noticeUnread(d)
	r.reasoning.add(member)
	thoughts.each(func(text string, _ bool) { t.addThinking(sc, text); added = true })
	add := func(text string, thinking bool) {
		added = true
		if thinking {
			t.addThinking(sc, text)
		} else {
			t.addText(sc, text)
		}
	}
	d.Content.each(add)
	d.Refusal.each(add)
	d.Audio.Transcript.each(add)
	calls := d.calls()
	r.fresh = len(r.calls)
	for i := range calls {
		r.emitInput(sc, r.addCall(&calls[i]))
	}
	return added || len(calls) > 0
}

// addMessage emits what a message in place of a delta adds to the reply. Some servers send
// the whole message after its deltas, or in each chunk what has come so far, and some send
// pieces. whole reports that the message is known to be the whole.
func (t *translator) addMessage(sc *ledger.Scope, k *choice, whole bool) bool {
	r, m := &t.reply, k.Message
	if r.blank() {
		return t.addDelta(sc, m)
	}
	var text, thoughts strings.Builder
	own, member := m.thoughts()
	own.each(func(s string, _ bool) { thoughts.WriteString(s) })
	for _, c := range []content{m.Content, m.Refusal, m.Audio.Transcript} {
		c.each(func(s string, thinking bool) {
			if thinking {
				thoughts.WriteString(s)
			} else {
				text.WriteString(s)
			}
		})
	}
	if !whole && r.isPiece(text.String(), thoughts.String(), k) {
		r.pieces = true
		return t.addDelta(sc, m)
	}
	added := t.noticeUnread(m)
	if rest := t.restOf(thoughts.String(), r.thoughts); rest != "" {
		r.reasoning.add(member.last(len(rest)))
		t.addThinking(sc, rest)
		added = true
	}
	if rest := t.restOf(text.String(), r.text); rest != "" {
		t.addText(sc, rest)
		added = true
	}
	calls := m.calls()
	r.fresh = len(r.calls)
	for i := range calls {
		r.emitInput(sc, r.addWholeCall(i, &calls[i]))
	}
	return added || len(calls) > 0
}

// isPiece reports whether a message holds a piece of the reply, and not what has come so far with
// something more. A message at the end may repeat all.
func (r *reply) isPiece(text, thoughts string, k *choice) bool {
	switch {
	case !strings.HasPrefix(text, r.text) || !strings.HasPrefix(thoughts, r.thoughts):
		return true
	case k.FinishReason != "":
		return false
	}
	return r.pieces || text == r.text && thoughts == r.thoughts && len(k.Message.calls()) == 0
}

// restOf returns what of a message has not come before. said is what has.
func (t *translator) restOf(message, said string) string {
	rest, ok := strings.CutPrefix(message, said)
	switch {
	case ok:
		return rest
	case message != "" && strings.TrimSpace(message) != strings.TrimSpace(said):
		t.l.Notice(event.LevelWarning, event.NoticeUnknownMessage, "the message at the end of the stream differs from its deltas", t.line)
	}
	return ""
}

// noticeUnread emits a notice for each part of a delta that this adapter cannot read. It
// reports whether there are some.
func (t *translator) noticeUnread(d *delta) bool {
	unread := d.unreadParts()
	for _, kind := range unread {
		t.l.Notice(event.LevelInfo, event.NoticeUnknownMessage, "a part of the reply ("+kind+") is not known to this adapter", t.line)
	}
	media := hasValue(d.Images) || hasValue(d.Audio.Data)
	if media { // the line is not repeated: it may have megabytes
		t.l.Notice(event.LevelInfo, event.NoticeUnknownMessage, "the reply has pictures or sounds, which this adapter does not show", nil)
	}
	return media || len(unread) > 0
}

func (t *translator) addText(sc *ledger.Scope, text string) {
	r := &t.reply
	r.text += text
	if r.thinks || r.texts == 0 {
		r.thinks = false
		r.texts++
	}
	key := strconv.Itoa(t.replies) + ".text" + strconv.Itoa(r.texts)
	t.remember(key)
	sc.Delta(key, r.id, text)
}

func (t *translator) addThinking(sc *ledger.Scope, text string) {
	r := &t.reply
	r.thoughts += text
	if !r.thinks {
		r.thinks = true
		r.thinkings++
	}
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
// than once; the last report counts, unless it has no tokens.
func (t *translator) addUsage(u *usage) {
	was := t.reply.last
	now := u.tokens()
	if now == (event.Tokens{}) {
		return
	}
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
	if f == nil && t.reply.finish == "" && (!t.reply.ended || t.reply.blank()) {
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
		if !slices.Contains(usualReasons, r.finish) {
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

// usualReasons are those of a reply that the model has finished.
var usualReasons = []string{"stop", "eos", "eos_token", "end_turn", ""} // "": the server states none

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

// emitUsage emits the tokens of the turn so far, if a server has stated some since the last time.
func (t *translator) emitUsage() {
	if t.turn != t.reported {
		t.reported = t.turn
		t.l.Emit(event.Usage{Tokens: t.turn, Scope: event.ScopeTurn})
	}
}
