package codex

import (
	"fmt"
	"hash/maphash"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/codexcli"
	"github.com/turnspec/turnspec/adapters/internal/ledger"
	"github.com/turnspec/turnspec/adapters/internal/lenient"
)

// openItem is an item that has started and not completed.
type openItem struct {
	id, kind          string
	name              string         // of a tool: the name of its task
	tool              string         // of a tool: its canonical name
	input             jsontext.Value // of a tool
	server            string         // of an MCP tool: its server
	started           bool           // of a command: it was started
	process           string         // of a command: the runtime's handle
	fromQuestion      bool           // of a command: only a question has announced it
	killedByInterrupt bool           // of a command: interrupting its turn kills it
	output            []byte         // of a file change: its output, which the item does not repeat
	hash              maphash.Hash   // of the streamed text, so that memory stays bounded
	length            int            // of the streamed text
	cut               bool           // the text was cut by a user's message, or by a plan
	streamed          []partRange    // of reasoning: the streamed parts
	key               string         // of reasoning: the ledger's key of the last part
	at                part           // of reasoning: the last part
}

// part is one text of a reasoning item: 's' for summaries, 'c' for raw content.
type part struct {
	kind  byte
	index int64
}

// partRange is a range of parts, so that memory stays bounded.
type partRange struct {
	kind        byte
	first, last int64
}

// wasStreamed reports whether deltas of a part arrived.
func (o *openItem) wasStreamed(p part) bool {
	return slices.ContainsFunc(o.streamed, func(r partRange) bool { return r.kind == p.kind && r.first <= p.index && p.index <= r.last })
}

// markStreamed records that deltas of a part arrive.
func (o *openItem) markStreamed(p part) {
	if o.wasStreamed(p) {
		return
	}
	if i := slices.IndexFunc(o.streamed, func(r partRange) bool { return r.kind == p.kind && r.last+1 == p.index }); i >= 0 {
		o.streamed[i].last++
		return
	}
	o.streamed = append(o.streamed, partRange{p.kind, p.index, p.index})
}

var seed = maphash.MakeSeed()

func newItem(id, kind string) *openItem {
	o := &openItem{id: id, kind: kind}
	o.hash.SetSeed(seed)
	return o
}

// handleTextDelta is the hot path. It handles a delta of a message, or of a
// proposed plan, which is also text of the model.
func (t *translator) handleTextDelta(kind string) {
	p := &t.m.Params
	th := t.threadOf(p.ThreadID.val())
	sc := t.lineScope(th, p.TurnID.val())
	if sc == nil {
		return
	}
	th.retrying = false
	o := th.findItem(p.ItemID.val())
	if o == nil {
		o = th.addItem(newItem(p.ItemID.val(), kind))
	}
	delta := p.Delta.val()
	_, _ = o.hash.WriteString(delta)
	o.length += len(delta)
	sc.Delta(o.id, o.id, delta)
}

func (t *translator) handleReasoningDelta(kind byte, index int64) {
	p := &t.m.Params
	th := t.threadOf(p.ThreadID.val())
	sc := t.lineScope(th, p.TurnID.val())
	if sc == nil || p.Delta.val() == "" {
		return
	}
	th.retrying = false
	o := th.findItem(p.ItemID.val())
	if o == nil {
		o = th.addItem(newItem(p.ItemID.val(), "reasoning"))
	}
	sc.Thinking(o.partKey(part{kind, index}), p.Delta.val())
}

// partKey returns the ledger's key of a part of a reasoning item. Each part is
// a block.
func (o *openItem) partKey(p part) string {
	if o.at != p { // the zero part has no kind
		o.at, o.key = p, fmt.Sprintf("%s/%c%d", o.id, p.kind, p.index)
		o.markStreamed(p)
	}
	return o.key
}

func (t *translator) handleOutputDelta() {
	p := &t.m.Params
	th := t.threadOf(p.ThreadID.val())
	id := p.ItemID.val()
	if slices.Contains(th.background, id) && !th.runs(p.TurnID.val()) {
		t.emitCommandTask(th, id, "", event.TaskRunning, p.Delta.val())
		return
	}
	sc := t.lineScope(th, p.TurnID.val())
	if sc == nil {
		return
	}
	if o := th.findItem(id); o != nil {
		o.started = true
		t.resolveFromItem(th, id, true)
		if o.kind == "fileChange" {
			o.output = append(o.output, p.Delta.val()...)
		}
	}
	sc.Emit(event.ToolOutput{ToolUseID: id, Text: p.Delta.val()})
}

// handleItem handles item/started and item/completed.
func (t *translator) handleItem(b []byte, completed bool) {
	p := &t.m.Params
	it := p.Item.V
	if it == nil {
		t.l.Unknown(t.m.Method.val(), b)
		return
	}
	th := t.threadOf(p.ThreadID.val())
	if completed && slices.Contains(th.background, string(it.ID)) && !th.runs(p.TurnID.val()) {
		t.endBackgroundCommand(th, it)
		return
	}
	if it.Type == "subAgentActivity" && it.Kind == "completed" {
		t.subagentCompleted(it) // may arrive after the end of the turn
		return
	}
	sc := t.lineScope(th, p.TurnID.val())
	if sc == nil {
		if !knownItem(it) { // a known one is late and is dropped
			t.l.Unknown(t.m.Method.val(), b)
		}
		return
	}
	th.retrying = false
	switch it.Type {
	case "imageView":
		th.imageViewed = true
	case "userMessage":
		if th.imageViewed && it.ClientID == "" && it.repeatsImage() {
			return // 0.98 repeats a picture that the model looked at
		}
	}
	switch it.Type {
	case "userMessage":
		t.handleUserMessage(th, sc, it, completed)
	case "agentMessage", "plan":
		if completed {
			t.endMessage(th, sc, it)
		} else {
			t.startMessage(th, sc, it)
		}
	case "reasoning":
		if completed {
			t.endReasoning(th, sc, it)
		} else {
			sc.Emit(event.Thinking{})
			th.addItem(newItem(string(it.ID), "reasoning"))
		}
	case "contextCompaction":
		phase := event.PhaseStart
		if completed {
			phase = event.PhaseEnd
		}
		th.compacting, th.compacted = !completed, true
		sc.Emit(event.Compaction{Phase: phase})
	case "enteredReviewMode", "exitedReviewMode", "hookPrompt":
	default:
		t.endUnnamedMessage(th, sc)
		if !t.handleToolItem(th, sc, it, completed) {
			t.l.Unknown(t.m.Method.val(), b)
		}
	}
}

// knownItem reports whether handleItem handles the type of an item.
func knownItem(it *item) bool {
	switch it.Type {
	case "userMessage", "agentMessage", "plan", "reasoning", "contextCompaction", "enteredReviewMode", "exitedReviewMode", "hookPrompt":
		return true
	}
	_, known := toolStart(it)
	return known
}

func (t *translator) startMessage(th *thread, sc *ledger.Scope, it *item) {
	id := string(it.ID)
	if o := th.findItem(id); o != nil { // repeated under the same id
		sc.BlockEnd(id, event.BlockRetracted, "")
		th.dropItem(o)
	}
	if it.Type == "plan" {
		t.splitMessages(th, sc)
	}
	o := th.addItem(newItem(id, string(it.Type)))
	if it.Text != "" {
		_, _ = o.hash.WriteString(string(it.Text))
		o.length = len(it.Text)
		sc.Delta(id, id, string(it.Text))
	}
}

// endUnnamedMessage ends a message without an id before a tool starts, so that the
// message after the tool does not continue or replace it.
func (t *translator) endUnnamedMessage(th *thread, sc *ledger.Scope) {
	if o := th.findItem(""); o != nil && (o.kind == "agentMessage" || o.kind == "plan") {
		sc.BlockEnd("", event.BlockComplete, "")
		th.dropItem(o)
	}
}

// splitMessages ends the blocks of open messages, because a plan follows. Their
// later text comes after the plan.
func (t *translator) splitMessages(th *thread, sc *ledger.Scope) {
	for _, o := range th.items {
		if o.kind == "agentMessage" && sc.BlockEnd(o.id, event.BlockComplete, "") {
			o.cut = true
		}
	}
}

func (t *translator) endMessage(th *thread, sc *ledger.Scope, it *item) {
	id, text := string(it.ID), string(it.Text)
	o := th.findItem(id)
	if o == nil {
		o = newItem(id, string(it.Type))
	}
	switch {
	case o.length == 0:
		sc.Delta(id, id, text)
		sc.BlockEnd(id, event.BlockComplete, "")
	case o.cut, o.length == len(text) && o.hash.Sum64() == maphash.String(seed, text):
		sc.BlockEnd(id, event.BlockComplete, "")
	default:
		sc.BlockEnd(id, event.BlockReplaced, text)
	}
	th.dropItem(o)
	if it.Type == "agentMessage" && text != "" {
		th.lastText = text
	}
}

// endReasoning closes reasoning and emits the parts without deltas. Raw content
// that only repeats a summary is omitted.
func (t *translator) endReasoning(th *thread, sc *ledger.Scope, it *item) {
	id := string(it.ID)
	o := th.findItem(id)
	if o == nil {
		o = newItem(id, "reasoning")
	}
	came := openItem{streamed: slices.Clone(o.streamed)}
	deliver := func(kind byte, texts []lenient.Str, not []lenient.Str) {
		for i, s := range texts {
			p := part{kind, int64(i)}
			if s != "" && !came.wasStreamed(p) && !slices.Contains(not, s) {
				sc.Thinking(o.partKey(p), string(s))
			}
		}
	}
	deliver('s', it.Summary, nil)
	deliver('c', lenient.Decode[lenient.List[lenient.Str]](it.Content), it.Summary)
	if o.key != "" && sc.ThinkingOpen(o.key) {
		sc.ThinkingDone()
	}
	th.dropItem(o)
}

// handleUserMessage emits that the runtime took a message. It cuts off text
// that still streams.
func (t *translator) handleUserMessage(th *thread, sc *ledger.Scope, it *item, completed bool) {
	id := string(it.ID)
	if o := th.findItem(id); o != nil {
		if completed {
			th.dropItem(o)
		}
		return
	}
	if id != "" && id == th.lastMessageID {
		return
	}
	th.lastMessageID = id
	if !completed {
		th.addItem(newItem(id, "userMessage"))
	}
	if th.sub {
		return // the parent's tool call contains it
	}
	t.closeIncomplete(th, sc, event.BlockInterrupted)
	d := event.UserMessage{MessageID: string(it.ClientID), Via: event.ViaSteer}
	if t.live != nil {
		t.live.messageTaken(&d)
	}
	switch {
	case !th.taken:
		d.Via = event.ViaTurn
	case d.Via == event.ViaTurn:
		d.Via = event.ViaMerge
	}
	th.taken = true
	if d.MessageID == "" {
		d.MessageID = id
	}
	var texts []string
	sent := len(d.Attachments) > 0 // with names, which the runtime does not repeat
	for _, in := range lenient.Decode[lenient.List[input]](it.Content) {
		switch {
		case in.Type == "text":
			texts = append(texts, string(in.Text))
		case !sent:
			kind := string(in.Type)
			if kind == "localImage" {
				kind = "image"
			}
			d.Attachments = append(d.Attachments, event.Attachment{Kind: kind, Name: string(in.Name), Path: string(in.Path), URL: string(in.URL)})
		}
	}
	d.Text = strings.Join(texts, "\n")
	sc.Emit(d)
}

// cannotAttach begins what 0.98 gives to the model in place of a picture of a format that it
// does not support.
const cannotAttach = "Codex cannot attach image at `"

// repeatsImage reports whether the content is pictures alone, or what stands for one.
func (it *item) repeatsImage() bool {
	inputs := lenient.Decode[lenient.List[input]](it.Content)
	return len(inputs) > 0 && !slices.ContainsFunc(inputs, func(in input) bool {
		return in.Type != "image" && (in.Type != "text" || !strings.HasPrefix(string(in.Text), cannotAttach))
	})
}

// endBackgroundCommand emits the end of a command that outlived its turn.
func (t *translator) endBackgroundCommand(th *thread, it *item) {
	id := string(it.ID)
	th.background = slices.DeleteFunc(th.background, func(s string) bool { return s == id })
	delete(th.processes, id)
	status := event.TaskCompleted
	switch {
	case it.Status != "completed" && it.ExitCode.Value() < 0: // the runtime ended it
		status = event.TaskStopped
	case it.Status != "completed":
		status = event.TaskFailed
	}
	t.emitCommandTask(th, id, codexcli.Unwrap(string(it.Command)), status, string(it.AggregatedOutput))
}
