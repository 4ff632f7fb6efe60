package drive

import (
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/fixtures"
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
	other  string              // the second one of the process, see aside
	asides map[string]string   // message on that one → its turn
	ends   map[string]bool     // turns of that one that ended
	side   string              // the thread that lifecycle started beside it
	turn   string              // that runs, or ""
	begun  map[string]bool     // turns that the runtime has said to have begun: no other can be stopped
	heard  map[string]bool     // notifications of this process, by method
	again  bool                // an error was told that it will try again

	sent   []*codexSent    // messages, in the order of sending
	over   map[string]bool // turns that ended
	tools  map[string]*codexTool
	asks   []codexAsk
	stale  []codexAsk             // questions of turns that are over
	noted  map[string]bool        // requests that the server says are resolved
	next   codexSettings          // what the next turn changes
	spoke  map[string]*said       // by thread
	agents map[string]*codexAgent // by thread
	past   codexPast

	servers map[string]bool // MCP servers that have started or failed
}

// codexSent is a message. The reply to it names a turn, but the turn that it runs
// in is the one that shows it: older versions put it into the running turn and
// reply with the id of one that never begins.
type codexSent struct {
	id, text string
	turn     string // that the reply named, or that took it
	during   string // the turn that ran when it was sent
	taken    bool
}

// codexAgent is a sub-agent: a thread that the client did not open. It lives
// from the call that makes it to the end of its turn.
type codexAgent struct {
	turn string // that runs, or ran last
	over bool
}

// codexTool is the item of a tool call. A command may outlive its turn, and is
// not idle until it is completed; no other item does.
type codexTool struct {
	turn            string
	agent           string // the thread of the sub-agent that the call made
	process         string // of a command
	command, closed bool
	output          bool // was streamed
	told            bool // a line tells its end
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
	return &codex{d: d, cfg: cfg, begun: map[string]bool{}, asides: map[string]string{}, ends: map[string]bool{}, over: map[string]bool{}, tools: map[string]*codexTool{}, spoke: map[string]*said{}, agents: map[string]*codexAgent{}, servers: map[string]bool{}}
}

func (c *codex) start(a fixtures.Step) error {
	args := append([]string{"app-server"}, c.cfg.connect("codex", c.d.o.Model.URL()).Args...)
	args = append(args, codexServers(c.d.o.Scenario)...)
	c.nextID, c.calls, c.turn, c.asks, c.stale, c.heard = 0, map[int]*codexReply{}, "", nil, nil, map[string]bool{}
	c.noted, c.next = map[string]bool{}, codexSettings{}
	c.bury()
	if err := c.d.spawn(append(args, a.Args...), nil); err != nil || a.What == "bare" {
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
	greeting := c.cfg.codex.greets(c.d.env("PATH"))
	if err := c.d.until("the greeting", func() bool { return greeting == "" || c.heard[greeting] }); err != nil {
		return err
	}
	return c.write(struct {
		Method string `json:"method"`
	}{"initialized"})
}

type codexThread struct {
	ThreadID       string `json:"threadId,omitempty"`
	LastTurnID     string `json:"lastTurnId,omitempty"`
	Cwd            string `json:"cwd"`
	ApprovalPolicy any    `json:"approvalPolicy"`
	Sandbox        string `json:"sandbox"`
	Model          string `json:"model,omitempty"`

	Tools []codexDynamicTool `json:"dynamicTools,omitempty"`
}

type codexInput struct {
	Type string  `json:"type"`
	Text *string `json:"text,omitzero"` // of a text, even without a word
	Path string  `json:"path,omitempty"`
}

type codexTurn struct {
	ThreadID            string       `json:"threadId"`
	ExpectedTurnID      string       `json:"expectedTurnId,omitempty"`
	Input               []codexInput `json:"input"`
	ClientUserMessageID string       `json:"clientUserMessageId"`
	codexSettings

	OutputSchema jsontext.Value `json:"outputSchema,omitempty"`
}

// send starts a turn with the message. While a turn runs the runtime takes it
// into that one, and says so in its reply.
func (c *codex) send(id, text string, files []string) error {
	r, err := c.startTurn(id, text, files)
	if err != nil {
		return err
	}
	if err := c.d.until("the reply to turn/start", func() bool { return r.done }); err != nil {
		return err
	}
	if r.err != nil {
		return refusal{fmt.Errorf("turn/start: error %d: %s", r.err.Code, r.err.Message)}
	}
	return nil
}

func (c *codex) startTurn(id, text string, files []string) (*codexReply, error) {
	m := &codexSent{id: id, text: text, during: c.turn}
	c.sent = append(c.sent, m)
	if c.turn == "" {
		c.turn = "starting"
	}
	input := []codexInput{{Type: "text", Text: &text}}
	for _, f := range files {
		input = append(input, codexInput{Type: "localImage", Path: c.d.workFile(f)})
	}
	return c.post("turn/start", codexTurn{ThreadID: c.thread, Input: input, ClientUserMessageID: id, OutputSchema: c.d.o.Scenario.Schema, codexSettings: c.settings()}, func(result jsontext.Value) {
		var p codexParams
		if err := json.Unmarshal(result, &p, asItCame); err != nil || p.Turn.ID == "" {
			c.d.fail(fmt.Errorf("turn/start: the result names no turn: %.200s", result))
			return
		}
		if !m.taken {
			m.turn = p.Turn.ID
		}
		if c.turn == "starting" {
			c.turn = m.turn
		}
		c.past.took(p.Turn.ID)
	})
}

func (c *codex) steer(id, text string) error {
	if c.turn == "" {
		return errors.New("no turn runs")
	}
	c.sent = append(c.sent, &codexSent{id: id, text: text, turn: c.turn, during: c.turn})
	_, err := c.call("turn/steer", codexTurn{ThreadID: c.thread, ExpectedTurnID: c.turn, Input: []codexInput{{Type: "text", Text: &text}}, ClientUserMessageID: id})
	return err
}

func (c *codex) stop() error {
	if err := c.d.until("a turn to stop", func() bool {
		return c.turn != "" && c.turn != "starting" && (c.begun[c.turn] || c.d.holding()) // a summary's turn is not told of on older wires
	}); err != nil {
		return err
	}
	turn := c.turn
	if c.past.begunAs != "" {
		turn = c.past.begunAs
	}
	_, err := c.call("turn/interrupt", struct {
		ThreadID string `json:"threadId"`
		TurnID   string `json:"turnId"`
	}{c.thread, turn})
	return err
}

// closing answers what would hold the process back. Before that nobody does: the
// answer would race with the turn that comes next.
func (c *codex) closing() error {
	for _, a := range c.stale {
		if !c.cfg.codex.clings {
			continue
		}
		if err := c.reply(a, fixtures.Step{Verb: fixtures.VerbAnswer, What: fixtures.AnswerDeny}); err != nil {
			return err
		}
		if err := c.d.until("the end of what was asked about", func() bool {
			return a.method == askInput || c.tools[a.tool] != nil && c.tools[a.tool].told
		}); err != nil {
			return err
		}
	}
	c.stale = nil
	return nil
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
		return nil, refusal{fmt.Errorf("%s: %w: error %d: %s", method, errRefused, r.err.Code, r.err.Message)}
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
