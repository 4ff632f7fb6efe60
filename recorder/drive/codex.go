package drive

import (
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// asItCame reads what a runtime sent: its duplicates and bad UTF-8 are its own.
var asItCame = json.JoinOptions(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))

// codex drives `codex app-server`.
type codex struct {
	d      *driver
	cfg    config
	nextID int
	calls  map[int]*codexReply // open calls by id
	thread string              // of the session
	turn   string              // that runs, or ""
	heard  map[string]bool     // notifications of this process, by method

	turnOf map[string]string // message → turn
	over   map[string]bool   // turns that ended
	tools  map[string]*codexTool
	asks   []codexAsk
	spoke  map[string]*said       // by thread
	agents map[string]*codexAgent // by thread
}

// codexAgent is a sub-agent: a thread that the client did not open. It lives
// from the call that makes it to the end of its turn.
type codexAgent struct{ over bool }

type codexAsk struct {
	id     jsontext.Value
	method string
	tool   string
}

// codexTool is the item of a tool call. A command may outlive its turn, and is
// not idle until it is completed; no other item does.
type codexTool struct {
	turn            string
	agent           string // the thread of the sub-agent that the call made
	command, closed bool
	output          bool // was streamed
}

type codexReply struct {
	done   bool
	then   func(result jsontext.Value) // called when it has come, if it is no error
	result jsontext.Value
	err    *codexError
}

type codexError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func newCodex(d *driver, cfg config) *codex {
	return &codex{d: d, cfg: cfg, turnOf: map[string]string{}, over: map[string]bool{}, tools: map[string]*codexTool{}, spoke: map[string]*said{}, agents: map[string]*codexAgent{}}
}

func (c *codex) start() error {
	args := append([]string{"app-server"}, c.cfg.connect("codex", c.d.o.Model.URL()).Args...)
	c.nextID, c.calls, c.turn, c.asks, c.heard = 0, map[int]*codexReply{}, "", nil, map[string]bool{}
	if err := c.d.spawn(args, nil); err != nil {
		return err
	}
	type info struct {
		Name    string `json:"name"`
		Title   string `json:"title"`
		Version string `json:"version"`
	}
	type capabilities struct {
		ExperimentalAPI bool `json:"experimentalApi"`
	}
	if _, err := c.call("initialize", struct {
		ClientInfo   info         `json:"clientInfo"`
		Capabilities capabilities `json:"capabilities"`
	}{info{"turnspec", "Turnspec", "1"}, capabilities{true}}); err != nil {
		return err
	}
	if err := c.d.until("the greeting", func() bool { return c.cfg.greeting == "" || c.heard[c.cfg.greeting] }); err != nil {
		return err
	}
	return c.write(struct {
		Method string `json:"method"`
	}{"initialized"})
}

func (c *codex) open(how string) error {
	if err := c.start(); err != nil {
		return err
	}
	method := map[string]string{"": "thread/start", "resume": "thread/resume", "fork": "thread/fork"}[how]
	params := codexThread{Cwd: c.d.o.Work, ApprovalPolicy: c.cfg.policy, Sandbox: c.cfg.sandbox}
	if how != "" {
		params.ThreadID = c.thread
	}
	res, err := c.call(method, params)
	if err != nil {
		return err
	}
	var r struct {
		Thread struct {
			ID string `json:"id"`
		} `json:"thread"`
	}
	if err := json.Unmarshal(res, &r, asItCame); err != nil || r.Thread.ID == "" {
		return fmt.Errorf("%s: the result names no thread: %.200s", method, res)
	}
	c.thread = r.Thread.ID
	then := "thread/started"
	if how == "resume" {
		then = "thread/goal/cleared"
	}
	return c.d.until(then, func() bool { return c.heard[then] })
}

type codexThread struct {
	ThreadID       string `json:"threadId,omitempty"`
	Cwd            string `json:"cwd"`
	ApprovalPolicy string `json:"approvalPolicy"`
	Sandbox        string `json:"sandbox"`
}

type codexInput struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type codexTurn struct {
	ThreadID            string       `json:"threadId"`
	ExpectedTurnID      string       `json:"expectedTurnId,omitempty"`
	Input               []codexInput `json:"input"`
	ClientUserMessageID string       `json:"clientUserMessageId"`
}

// send starts a turn with the message. While a turn runs the runtime takes it
// into that one, and says so in its reply.
func (c *codex) send(id, text string) error {
	r, err := c.startTurn(id, text)
	if err != nil {
		return err
	}
	if err := c.d.until("the reply to turn/start", func() bool { return r.done }); err != nil {
		return err
	}
	if r.err != nil {
		return fmt.Errorf("turn/start: error %d: %s", r.err.Code, r.err.Message)
	}
	return nil
}

func (c *codex) startTurn(id, text string) (*codexReply, error) {
	if c.turn == "" {
		c.turn = "starting"
	}
	c.turnOf[id] = ""
	return c.post("turn/start", codexTurn{ThreadID: c.thread, Input: []codexInput{{"text", text}}, ClientUserMessageID: id}, func(result jsontext.Value) {
		var p codexParams
		if err := json.Unmarshal(result, &p, asItCame); err != nil || p.Turn.ID == "" {
			c.d.fail(fmt.Errorf("turn/start: the result names no turn: %.200s", result))
			return
		}
		c.turn, c.turnOf[id] = p.Turn.ID, p.Turn.ID
	})
}

func (c *codex) steer(id, text string) error {
	if c.turn == "" {
		return errors.New("no turn runs")
	}
	c.turnOf[id] = c.turn
	_, err := c.call("turn/steer", codexTurn{ThreadID: c.thread, ExpectedTurnID: c.turn, Input: []codexInput{{"text", text}}, ClientUserMessageID: id})
	return err
}

func (c *codex) stop() error {
	if err := c.d.until("a turn to stop", func() bool { return c.turn != "" && c.turn != "starting" }); err != nil {
		return err
	}
	_, err := c.call("turn/interrupt", struct {
		ThreadID string `json:"threadId"`
		TurnID   string `json:"turnId"`
	}{c.thread, c.turn})
	return err
}

func (c *codex) answer(what string) error {
	if len(c.asks) == 0 {
		return errors.New("nothing was asked: `wait ask` first")
	}
	ask := c.asks[0]
	c.asks = c.asks[1:]
	result := jsontext.Value(what)
	if !strings.HasPrefix(what, "{") {
		decision := map[string]string{"allow": "accept", "deny": "decline", "cancel": "cancel"}[what]
		key := "decision"
		if ask.method == "mcpServer/elicitation/request" {
			key = "action"
		}
		result = jsontext.Value(fmt.Sprintf(`{%q:%q}`, key, decision))
	}
	return c.write(struct {
		ID     jsontext.Value `json:"id"`
		Result jsontext.Value `json:"result"`
	}{ask.id, result})
}

func (c *codex) set(what, value string) error {
	return fmt.Errorf("codex has no request that sets the %s of a thread: it is a parameter of a turn", what)
}

func (c *codex) write(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return c.d.write(b)
}

// call sends a request and waits for its reply.
func (c *codex) call(method string, params any) (jsontext.Value, error) {
	r, err := c.post(method, params, nil)
	if err != nil {
		return nil, err
	}
	if err := c.d.until("the reply to "+method, func() bool { return r.done }); err != nil {
		return nil, err
	}
	if r.err != nil {
		return nil, fmt.Errorf("%s: error %d: %s", method, r.err.Code, r.err.Message)
	}
	return r.result, nil
}

func (c *codex) post(method string, params any, then func(jsontext.Value)) (*codexReply, error) {
	c.nextID++
	r := &codexReply{then: then}
	c.calls[c.nextID] = r
	return r, c.write(struct {
		ID     int    `json:"id"`
		Method string `json:"method"`
		Params any    `json:"params"`
	}{c.nextID, method, params})
}
