package codex

import (
	"fmt"
	"hash/maphash"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/ledger"
)

// openItem is an item that has begun and not completed.
type openItem struct {
	id, kind string
	name     string         // of a tool: how a task of it is called
	tool     string         // of a tool: its canonical name
	input    jsontext.Value // of a tool
	match    string         // of an MCP tool: its server
	ran      bool           // of a command: it was started
	process  string         // of a command: the runtime's handle of it
	asked    bool           // of a command: a question alone has shown it
	mortal   bool           // of a command: an interruption of its turn kills it
	output   []byte         // of a file change: what it printed; the item does not repeat it
	hash     maphash.Hash   // of the text that came in pieces: memory stays flat
	length   int            // its length
	split    bool           // the text was cut by a message of the user, or by a plan
	parts    []parts        // of reasoning: the parts that came in pieces
	key      string         // of reasoning: the ledger's key of the last part
	at       part           // of reasoning: that part
}

// part is one text of a reasoning item: 's' summaries, 'c' raw content.
type part struct {
	kind  byte
	index int64
}

// parts are neighbours, from the first to the last index: memory stays flat.
type parts struct {
	kind        byte
	first, last int64
}

// streamed reports whether a part came in pieces.
func (o *openItem) streamed(p part) bool {
	return slices.ContainsFunc(o.parts, func(r parts) bool { return r.kind == p.kind && r.first <= p.index && p.index <= r.last })
}

// stream notes that a part comes in pieces.
func (o *openItem) stream(p part) {
	if o.streamed(p) {
		return
	}
	if i := slices.IndexFunc(o.parts, func(r parts) bool { return r.kind == p.kind && r.last+1 == p.index }); i >= 0 {
		o.parts[i].last++
		return
	}
	o.parts = append(o.parts, parts{p.kind, p.index, p.index})
}

var seed = maphash.MakeSeed()

func newItem(id, kind string) *openItem {
	o := &openItem{id: id, kind: kind}
	o.hash.SetSeed(seed)
	return o
}

// textDelta is the hot path: a piece of a message (or of a proposed plan, which
// is text of the model too).
func (t *translator) textDelta(kind string) {
	p := &t.m.Params
	th := t.thread(p.ThreadID.val())
	sc := t.scopeOf(th, p.TurnID.val())
	if sc == nil {
		return
	}
	th.retrying = false
	o := th.find(p.ItemID.val())
	if o == nil {
		o = th.add(newItem(p.ItemID.val(), kind))
	}
	delta := p.Delta.val()
	_, _ = o.hash.WriteString(delta)
	o.length += len(delta)
	sc.Delta(o.id, o.id, delta)
}

func (t *translator) reasoningDelta(kind byte, index int64) {
	p := &t.m.Params
	th := t.thread(p.ThreadID.val())
	sc := t.scopeOf(th, p.TurnID.val())
	if sc == nil || p.Delta.val() == "" {
		return
	}
	th.retrying = false
	o := th.find(p.ItemID.val())
	if o == nil {
		o = th.add(newItem(p.ItemID.val(), "reasoning"))
	}
	sc.Thinking(o.part(part{kind, index}), p.Delta.val())
}

// part is the ledger's key of a part of a reasoning item: each is a block.
func (o *openItem) part(p part) string {
	if o.at != p { // none is of no kind
		o.at, o.key = p, fmt.Sprintf("%s/%c%d", o.id, p.kind, p.index)
		o.stream(p)
	}
	return o.key
}

func (t *translator) outputDelta() {
	p := &t.m.Params
	th := t.thread(p.ThreadID.val())
	id := p.ItemID.val()
	if slices.Contains(th.background, id) && !th.is(p.TurnID.val()) {
		t.l.Task(event.Task{TaskID: t.commandTask(th, id), Kind: event.TaskCommand, ParentID: t.subID(th), ToolUseID: id,
			Status: event.TaskRunning, Text: p.Delta.val()})
		return
	}
	sc := t.scopeOf(th, p.TurnID.val())
	if sc == nil {
		return
	}
	if o := th.find(id); o != nil {
		o.ran = true
		t.granted(th, id, true)
		if o.kind == "fileChange" {
			o.output = append(o.output, p.Delta.val()...)
		}
	}
	sc.ToolOutput(id, p.Delta.val())
}

// item handles item/started and item/completed.
func (t *translator) item(b []byte, completed bool) {
	p := &t.m.Params
	it := p.Item.v
	if it == nil {
		t.unknown(b)
		return
	}
	th := t.thread(p.ThreadID.val())
	if completed && slices.Contains(th.background, string(it.ID)) && !th.is(p.TurnID.val()) {
		t.backgroundEnded(th, it)
		return
	}
	if it.Type == "subAgentActivity" && it.Kind == "completed" {
		t.agentEnded(it) // may come after the end of the turn
		return
	}
	sc := t.scopeOf(th, p.TurnID.val())
	if sc == nil {
		return
	}
	th.retrying = false
	switch it.Type {
	case "userMessage":
		t.userMessage(th, sc, it, completed)
	case "agentMessage", "plan":
		if completed {
			t.messageEnd(th, sc, it)
		} else {
			t.messageStart(th, sc, it)
		}
	case "reasoning":
		if completed {
			t.reasoningEnd(th, sc, it)
		} else {
			sc.Emit(event.Thinking{})
			th.add(newItem(string(it.ID), "reasoning"))
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
		if !t.toolItem(th, sc, it, completed) {
			t.unknown(b)
		}
	}
}

func (t *translator) messageStart(th *thread, sc *ledger.Scope, it *item) {
	id := string(it.ID)
	if o := th.find(id); o != nil { // said again under the same id
		sc.BlockEnd(id, event.BlockRetracted, "")
		th.drop(o)
	}
	if it.Type == "plan" {
		t.breakOff(th, sc)
	}
	o := th.add(newItem(id, string(it.Type)))
	if it.Text != "" {
		_, _ = o.hash.WriteString(string(it.Text))
		o.length = len(it.Text)
		sc.Delta(id, id, string(it.Text))
	}
}

// breakOff ends the block of a message that a plan was taken out of: what the
// message says then stands behind the plan.
func (t *translator) breakOff(th *thread, sc *ledger.Scope) {
	for _, o := range th.open {
		if o.kind == "agentMessage" && sc.BlockEnd(o.id, event.BlockComplete, "") {
			o.split = true
		}
	}
}

func (t *translator) messageEnd(th *thread, sc *ledger.Scope, it *item) {
	id, text := string(it.ID), string(it.Text)
	o := th.find(id)
	if o == nil {
		o = newItem(id, string(it.Type))
	}
	switch {
	case o.length == 0:
		sc.Delta(id, id, text)
		sc.BlockEnd(id, event.BlockComplete, "")
	case o.split, o.length == len(text) && o.hash.Sum64() == maphash.String(seed, text):
		sc.BlockEnd(id, event.BlockComplete, "")
	default:
		sc.BlockEnd(id, event.BlockReplaced, text)
	}
	th.drop(o)
	if it.Type == "agentMessage" && text != "" {
		th.said = text
	}
}

// reasoningEnd closes reasoning and delivers the parts that did not come in
// pieces; raw content that only repeats a summary is not delivered again.
func (t *translator) reasoningEnd(th *thread, sc *ledger.Scope, it *item) {
	id := string(it.ID)
	o := th.find(id)
	if o == nil {
		o = newItem(id, "reasoning")
	}
	came := openItem{parts: slices.Clone(o.parts)}
	deliver := func(kind byte, texts []str, not []str) {
		for i, s := range texts {
			p := part{kind, int64(i)}
			if s != "" && !came.streamed(p) && !slices.Contains(not, s) {
				sc.Thinking(o.part(p), string(s))
			}
		}
	}
	deliver('s', it.Summary, nil)
	deliver('c', read[list[str]](it.Content), it.Summary)
	if o.key != "" && sc.ThinkingOpen(o.key) {
		sc.ThinkingDone()
	}
	th.drop(o)
}

// userMessage tells that the runtime took a message. What still streams then
// was cut off by it.
func (t *translator) userMessage(th *thread, sc *ledger.Scope, it *item, completed bool) {
	id := string(it.ID)
	if o := th.find(id); o != nil {
		if completed {
			th.drop(o)
		}
		return
	}
	if id != "" && id == th.heard {
		return
	}
	th.heard = id
	if !completed {
		th.add(newItem(id, "userMessage"))
	}
	if th.sub {
		return // what its parent told it stands in the parent's tool call
	}
	t.abandon(th, sc, event.BlockInterrupted)
	d := event.UserMessage{MessageID: string(it.ClientID), Via: event.ViaSteer}
	if t.live != nil {
		t.live.took(&d)
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
	for _, in := range read[list[input]](it.Content) {
		switch in.Type {
		case "text":
			texts = append(texts, string(in.Text))
		default:
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

// backgroundEnded tells of the end of a command that outlived its turn.
func (t *translator) backgroundEnded(th *thread, it *item) {
	id := string(it.ID)
	th.background = slices.DeleteFunc(th.background, func(s string) bool { return s == id })
	delete(th.processes, id)
	status := event.TaskCompleted
	switch {
	case it.Status != "completed" && it.ExitCode.n < 0: // it was ended by the runtime
		status = event.TaskStopped
	case it.Status != "completed":
		status = event.TaskFailed
	}
	t.l.Task(event.Task{TaskID: t.commandTask(th, id), Kind: event.TaskCommand, ParentID: t.subID(th), ToolUseID: id,
		Name: unwrap(string(it.Command)), Status: status, Text: string(it.AggregatedOutput)})
}
