package chat

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/wire"
	wirechat "github.com/turnspec/turnspec/fixtures/wire/chat"
	"github.com/turnspec/turnspec/recorder/internal/drive"
)

// reply is the reply of the model so far.
type reply struct {
	text, reasoning strings.Builder
	field           string // the member that holds the reasoning
	calls           []*call
	finish          string
	done            bool // [DONE] has come, which some servers send in place of a reason
	failed          bool // an event of the stream is an error, or cannot be read
	permanent       bool // and another attempt is of no use
}

// call is a call of a tool.
type call struct {
	index          int
	ID, name, args string
	result         *string
	asks           bool // it waits for the answer of the user
}

// status is the code of an error as a number; 0 if it is none.
func status(p *wirechat.Failure) int {
	n, _ := strconv.Atoi(string(p.Code)) // a word is no status
	return n
}

// tryAgain reports whether a request is sent again after a status.
func tryAgain(status int) bool {
	return status == http.StatusRequestTimeout || status == http.StatusConflict || status == http.StatusTooManyRequests || status >= http.StatusInternalServerError
}

// maxRetries is how often a request is sent again, as OpenAI's own clients do.
const maxRetries = 2

// permanent are the types and codes of errors after which another attempt is of no use.
var permanent = regexp.MustCompile(`^(insufficient_quota|usage_limit_reached|invalid_request_error|invalid_api_key|context_length_exceeded|authentication_error|permission_error)$`)

func isPermanent(p *wirechat.Failure) bool {
	return p != nil && (permanent.MatchString(string(p.Type)) || permanent.MatchString(wire.Unquote(p.Code)))
}

func quote(s string) jsontext.Value { return jsontext.Value(wire.Quote(s)) }

// object writes an object of names and values.
func object(members ...any) jsontext.Value {
	var b strings.Builder
	for pair := range slices.Chunk(members, 2) {
		fmt.Fprintf(&b, ",%q:%s", pair...)
	}
	return jsontext.Value("{" + strings.TrimPrefix(b.String(), ",") + "}")
}

func array(values []jsontext.Value) jsontext.Value {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = string(v)
	}
	return jsontext.Value("[" + strings.Join(texts, ",") + "]")
}

// content is the content of a message: its text, or parts if it has pictures.
func (c *client) content(s fixtures.Step) (jsontext.Value, error) {
	if len(s.Files) == 0 {
		return quote(s.Text), nil
	}
	var parts []jsontext.Value
	if s.Text != "" {
		parts = append(parts, object("type", quote("text"), "text", quote(s.Text)))
	}
	for _, name := range s.Files {
		mime := fixtures.MIME(name)
		if !strings.HasPrefix(mime, "image/") {
			return nil, c.Error("attaches a file that is no picture")
		}
		b, err := c.d.ReadFile(name)
		if err != nil {
			return nil, err
		}
		url := object("url", quote("data:"+mime+";base64,"+base64.StdEncoding.EncodeToString(b)))
		parts = append(parts, object("type", quote("image_url"), "image_url", url))
	}
	return array(parts), nil
}

// post sends the history to the model.
func (c *client) post() error {
	c.nextID++
	c.request, c.reply, c.streams = c.nextID, reply{}, false
	members := []any{"model", quote(c.model), "messages", array(c.history), "stream", "true", "stream_options", `{"include_usage":true}`}
	if effort := c.d.Scenario.Opening.Effort; effort != "" {
		members = append(members, "reasoning_effort", quote(effort))
	}
	if text := c.d.Scenario.Opening.Instructions; text != "" {
		system := object("role", quote("system"), "content", quote(text))
		members[3] = array(append([]jsontext.Value{system}, c.history...))
	}
	if tools := c.declaredTools(); len(tools) > 0 {
		members = append(members, "tools", array(tools))
	}
	return c.d.Write(object("id", strconv.Itoa(c.nextID), "method", quote(http.MethodPost), "path", quote("/chat/completions"), "body", object(members...)))
}

func (c *client) declaredTools() (out []jsontext.Value) {
	for _, t := range c.offered {
		f := object("name", quote(t.name), "description", quote(t.Description), "parameters", drive.InputSchema(t.Tool))
		out = append(out, object("type", quote("function"), "function", f))
	}
	return out
}

// offeredTool is a tool of the client, or of an MCP server, under its name in requests.
type offeredTool struct {
	*fixtures.Tool
	name string
}

func offeredTools(s *fixtures.Scenario) (out []offeredTool) {
	for i := range s.Tools {
		out = append(out, offeredTool{&s.Tools[i], s.Tools[i].Name})
	}
	for _, srv := range s.Servers {
		for i := range srv.Tools {
			out = append(out, offeredTool{&srv.Tools[i], fixtures.ServerTool(srv.Name, srv.Tools[i].Name)})
		}
	}
	return out
}

// toolOf returns the tool that a call names, or nil.
func (c *client) toolOf(k *call) *fixtures.Tool {
	for _, t := range c.offered {
		if t.name == k.name {
			return t.Tool
		}
	}
	return nil
}

// Read implements drive.Client.
func (c *client) Read(b []byte) {
	var l wirechat.Reply
	if err := wire.Decode(b, &l); err != nil {
		c.d.Fail(fmt.Errorf("a line of the server has a form that the client does not know: %w: %.300s", err, b))
		return
	}
	if id, _ := strconv.Atoi(string(l.ID)); id != c.request || c.request == 0 { // what has no number has no request
		c.answered = max(c.answered, id) // of a read, or of a request that was aborted
		return
	}
	switch {
	case l.Error != "":
		c.failRequest(!c.reply.permanent, 0)
	case l.Status >= http.StatusBadRequest:
		failure := l.Failure()
		c.failRequest(tryAgain(l.Status) && !isPermanent(&failure), retryAfter(l.Headers))
	case l.Status != 0:
		c.streams = true
	case l.Ends() && (c.reply.failed || c.reply.finish == "" && (!c.reply.done || c.reply.isEmpty())):
		c.failRequest(!c.reply.permanent, 0)
	case l.Ends():
		c.endReply()
	case c.reply.failed:
	case l.Data != nil:
		c.readChunk(l.Data)
	case l.Text == "[DONE]":
		c.reply.done = true
	case l.Text != "":
		c.reply.failed = true
	}
}

func (c *client) readChunk(b []byte) {
	var k wirechat.Chunk
	if err := wire.Decode(b, &k); err != nil {
		return
	}
	if f := k.Failure(); f != nil {
		c.reply.failed, c.reply.permanent = true, isPermanent(f)
		if status := status(f); status != 0 {
			c.reply.permanent = c.reply.permanent || !tryAgain(status)
		}
		return
	}
	if len(k.Choices) == 0 {
		return
	}
	d := k.Choices[0].Added()
	r := &c.reply
	r.text.WriteString(d.Content.Text)
	c.main.Text.WriteString(d.Content.Text)
	for field, text := range map[string]wire.String{"reasoning_content": d.ReasoningContent, "reasoning": d.Reasoning, "reasoning_text": d.ReasoningText} {
		if text != "" {
			r.field = field
			r.reasoning.WriteString(string(text))
			c.main.Think.WriteString(string(text))
		}
	}
	for _, text := range []string{d.Content.Thinking, string(d.DetailText())} {
		r.reasoning.WriteString(text)
		c.main.Think.WriteString(text)
	}
	for _, p := range d.Calls {
		x := r.callOf(&p)
		x.args += string(p.Function.Args)
		id := c.d.Runtime.Wire.ScenarioCall(x.ID)
		c.tools[id] = true
		c.inputs[id] = c.inputs[id] || x.args != ""
	}
	if k.Choices[0].Finish != "" {
		r.finish = string(k.Choices[0].Finish)
	}
}

// isEmpty reports whether the model has said nothing.
func (r *reply) isEmpty() bool {
	return r.text.Len() == 0 && r.reasoning.Len() == 0 && len(r.calls) == 0
}

// callOf returns the call that a piece belongs to: that of its index, unless it begins another
// one under the same index, or without an index the last one.
func (r *reply) callOf(p *wirechat.Call) *call {
	for _, x := range slices.Backward(r.calls) {
		if !p.Begins(x.ID) && (p.Index == nil || x.index == *p.Index) {
			return x
		}
	}
	x := &call{ID: string(p.ID), name: string(p.Function.Name)}
	if p.Index != nil {
		x.index = *p.Index
	}
	r.calls = append(r.calls, x)
	return x
}

// retryAfter is how long a server wants its client to wait; 0 if it does not say so.
func retryAfter(headers jsontext.Value) time.Duration {
	var values map[string]string
	_ = wire.Decode(headers, &values)                           // a reply may have none
	seconds, _ := strconv.ParseFloat(values["Retry-After"], 64) // a date is not waited for
	return time.Duration(seconds * float64(time.Second))
}

// failRequest handles the failure of a request: it is sent again later, or the turn ends.
// What the model said so far is lost.
func (c *client) failRequest(again bool, wait time.Duration) {
	c.request, c.reply, c.streams = 0, reply{}, false
	if !again || c.attempts >= maxRetries {
		c.endTurn()
		return
	}
	if wait == 0 {
		wait = 250 * time.Millisecond << c.attempts
	}
	c.attempts++
	c.retries++
	c.pause = time.NewTimer(wait)
}

// Poll implements drive.Poller: it sends the request again if the pause is over, which no
// line marks.
func (c *client) Poll() error {
	if c.pause == nil {
		return nil
	}
	select {
	case <-c.pause.C:
		c.pause = nil
		return c.post()
	default:
		return nil
	}
}

// endReply handles a reply that is complete.
func (c *client) endReply() {
	r := &c.reply
	c.request, c.streams, c.attempts = 0, false, 0
	calls := r.calls
	if r.finish == "length" || r.finish == "content_filter" {
		calls = nil // the last one may be cut
	}
	c.appendReply(calls)
	if len(calls) == 0 {
		c.endTurn()
		return
	}
	c.open = calls
	for _, k := range calls {
		c.decide(k)
	}
	c.d.Fail(c.goOn())
}

// decide runs a call, or denies it, or asks the user: by the policy or, if that has no verdict, by
// the mode.
func (c *client) decide(k *call) {
	t := c.toolOf(k)
	s, decided := c.d.Judge(c.d.Runtime.Wire.ScenarioCall(k.ID))
	switch k.asks = false; {
	case decided && s.What == fixtures.AnswerDeny:
		c.setResult(k, s.Text)
	case !decided && c.d.Scenario.InitialMode() == "ask" && t != nil && !t.ReadOnly:
		k.asks = true
	default:
		c.run(k)
	}
}

// appendReply adds the reply of the model to the history.
func (c *client) appendReply(calls []*call) {
	r := &c.reply
	members := []any{"role", quote("assistant"), "content", quote(r.text.String())}
	if r.reasoning.Len() > 0 && r.field != "" { // as a part of the content it is not sent back
		members = append(members, r.field, quote(r.reasoning.String()))
	}
	var all []jsontext.Value
	for _, k := range calls {
		f := object("name", quote(k.name), "arguments", quote(k.args))
		all = append(all, object("id", quote(k.ID), "type", quote("function"), "function", f))
	}
	if len(all) > 0 {
		members = append(members, "tool_calls", array(all))
	}
	if r.text.Len() > 0 || r.reasoning.Len() > 0 || len(all) > 0 {
		c.history = append(c.history, object(members...))
	}
}

// keepPartial adds what the model said before it was stopped, without its calls, which never
// ran.
func (c *client) keepPartial() {
	if c.reply.text.Len() > 0 {
		c.reply.reasoning.Reset()
		c.appendReply(nil)
	}
}

// run calls a tool of the client.
func (c *client) run(k *call) {
	done := func(text string) func() error {
		return func() error {
			c.setResult(k, text)
			return c.goOn()
		}
	}
	t := c.toolOf(k)
	switch {
	case t == nil:
		c.d.Fail(done("there is no tool " + k.name)())
	case t.Dies:
		c.d.Fail(done("The server has exited.")())
	case k.args != "" && !jsontext.Value(k.args).IsValid():
		c.d.Fail(done("the arguments are not valid JSON")())
	default:
		if t.Makes != "" {
			c.d.Fail(os.WriteFile(c.d.Path(t.Makes), nil, 0o644))
		}
		c.d.Fail(c.d.AnswerCall(k.ID, t.Name, t.Awaits, done(resultText(t)), func() error { return nil }))
	}
}

// resultText is the text of a result. The API has no other form for it.
func resultText(t *fixtures.Tool) string {
	if t.Fail != "" {
		return t.Fail
	}
	if len(t.Result) == 0 && t.Structured != nil {
		return string(t.Structured)
	}
	var texts []string
	for _, r := range t.Result {
		text := r.Text
		if r.Image != "" {
			text = fmt.Sprintf("(%s, %d bytes)", drive.ImageType(r), base64.StdEncoding.DecodedLen(len(r.Image))-strings.Count(r.Image, "="))
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, "\n")
}

func (c *client) setResult(k *call, text string) {
	k.result = &text
	c.results[c.d.Runtime.Wire.ScenarioCall(k.ID)] = true
}

// goOn sends the results to the model when all calls have one.
func (c *client) goOn() error {
	if len(c.open) == 0 || slices.ContainsFunc(c.open, func(k *call) bool { return k.result == nil }) {
		return nil
	}
	c.appendResults()
	if c.requests++; c.requests == c.d.Scenario.Opening.MaxRequests {
		c.endTurn()
		return nil
	}
	return c.post()
}

func (c *client) appendResults() {
	for _, k := range c.open {
		c.history = append(c.history, object("role", quote("tool"), "tool_call_id", quote(k.ID), "content", quote(*k.result)))
	}
	c.open = nil
}
