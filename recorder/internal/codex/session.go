package codex

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/wire"
	"github.com/turnspec/turnspec/recorder/internal/drive"
)

// past is what the client keeps from one process to the next.
type past struct {
	raw     drive.RawRequests
	threads []string // opened, in order
	turns   []string // of the thread, in order
	// compacting: a turn was requested whose id is not known yet. Older versions
	// do not report its start.
	compacting bool
	// begunAs is the id by which the running turn is interrupted, if it is not
	// the id of the turn: a review has two.
	begunAs  string
	accepted bool              // the last raw request got a result
	turnOf   map[string]string // the turn of each message of an earlier process
}

// earlier stands for the turns of processes that have ended.
const earlier = "earlier"

// turnWith returns the turn that took a message.
func (c *client) turnWith(message string) string {
	for _, m := range c.sent {
		if m.id == message && m.turn != earlier {
			return m.turn
		}
	}
	return c.past.turnOf[message]
}

func (p *past) addTurn(turn string) {
	if !slices.Contains(p.turns, turn) {
		p.turns = append(p.turns, turn)
	}
}

// endProcess handles what an ended process has left open as ended.
func (c *client) endProcess() {
	c.past.raw, c.past.compacting = drive.RawRequests{}, false
	if c.past.turnOf == nil {
		c.past.turnOf = map[string]string{}
	}
	// Older versions number the turns of each process from 0.
	c.ended = map[string]bool{earlier: true}
	for _, m := range c.sent {
		if m.turn != earlier && m.turn != "" {
			c.past.turnOf[m.id] = m.turn
		}
		m.turn = earlier
	}
	for _, t := range c.tools {
		t.closed = true
	}
	for _, a := range c.agents {
		a.ended = true
	}
}

type threadParams struct {
	ThreadID       string `json:"threadId,omitempty"`
	LastTurnID     string `json:"lastTurnId,omitempty"`
	Cwd            string `json:"cwd"`
	ApprovalPolicy any    `json:"approvalPolicy"`
	Sandbox        string `json:"sandbox"`
	Model          string `json:"model,omitempty"`
	Developer      string `json:"developerInstructions,omitempty"`
	Base           string `json:"baseInstructions,omitempty"`

	Tools []dynamicTool `json:"dynamicTools,omitempty"`
}

type threadRef struct {
	ThreadID string `json:"threadId"`
}

// Open implements drive.Client.
func (c *client) Open(_ context.Context, s fixtures.Step) error {
	if err := c.startProcess(s); err != nil || s.What == "bare" {
		return err
	}
	thread, err := drive.SessionOf(s, c.past.threads, c.thread)
	if err != nil {
		return err
	}
	params := threadParams{Cwd: c.d.Work, ApprovalPolicy: c.cfg.policy, Sandbox: c.cfg.sandbox, Model: c.d.Scenario.OpenModel("codex", c.d.Version)}
	if text := c.d.Scenario.Opening.Instructions; c.d.Scenario.Opening.ReplaceInstructions {
		params.Base = text
	} else {
		params.Developer = text
	}
	if c.cfg.granular {
		params.ApprovalPolicy = granular
	}
	method, then := "thread/start", c.cfg.started
	switch s.What {
	case "":
		params.Tools = dynamicTools(c.d.Scenario.Tools)
	case "unarchive":
		if _, err := c.requestRPC("thread/unarchive", threadRef{thread}); err != nil {
			return err
		}
		if c.cfg.archived != "" {
			if err := c.waitSeen("thread/unarchived"); err != nil {
				return err
			}
		}
		fallthrough
	case "resume":
		method, then, params.ThreadID = "thread/resume", c.cfg.resumed, thread
	case "fork":
		method, params.ThreadID = "thread/fork", thread
		if s.At != "" {
			params.LastTurnID = c.turnWith(s.At)
		}
	}
	if thread, err = c.openThread(method, params); err != nil {
		return err
	}
	c.thread = thread
	if !slices.Contains(c.past.threads, c.thread) {
		c.past.threads = append(c.past.threads, c.thread)
	}
	return c.d.Until(then, func() bool { return (then == "" || c.seen[then]) && c.serversStarted() })
}

// openThread sends a request that opens a thread, and returns the thread's id.
func (c *client) openThread(method string, params any) (string, error) {
	result, err := c.requestRPC(method, params)
	if err != nil {
		return "", err
	}
	return threadIn(method, result)
}

func threadIn(method string, result jsontext.Value) (string, error) {
	var r struct {
		Thread struct {
			ID string `json:"id"`
		} `json:"thread"`
	}
	if err := wire.Decode(result, &r); err != nil || r.Thread.ID == "" {
		return "", fmt.Errorf("%s: the result names no thread: %.200s", method, result)
	}
	return r.Thread.ID, nil
}

func (c *client) compact(context.Context, fixtures.Step) error {
	c.turn, c.past.compacting = starting, true
	_, err := c.requestRPC("thread/compact/start", threadRef{c.thread})
	return err
}

func (c *client) revert(_ context.Context, s fixtures.Step) error {
	turn := c.turnWith(s.ID)
	if s.ID == fixtures.UnknownMessage {
		turn = fixtures.UnknownSession
	}
	at := slices.Index(c.past.turns, turn)
	n := len(c.past.turns) - at
	if at < 0 {
		n = 0 // the runtime refuses it: the least is one
	}
	var err error
	if c.cfg.reverts {
		err = c.requestSeen("thread/revert", struct {
			ThreadID   string `json:"threadId"`
			BeforeTurn string `json:"beforeTurnId"`
		}{c.thread, turn}, "thread/reverted")
	} else {
		_, err = c.requestRPC("thread/rollback", struct {
			ThreadID string `json:"threadId"`
			Turns    int    `json:"numTurns"`
		}{c.thread, n})
	}
	if err == nil {
		c.past.turns = c.past.turns[:max(at, 0)]
	}
	return err
}

func (c *client) archive(context.Context, fixtures.Step) error {
	return c.requestSeen("thread/archive", threadRef{c.thread}, c.cfg.archived)
}

func (c *client) rename(_ context.Context, s fixtures.Step) error {
	return c.requestSeen("thread/name/set", struct {
		ThreadID string `json:"threadId"`
		Name     string `json:"name"`
	}{c.thread, s.Text}, "thread/name/updated")
}

func (c *client) list(_ context.Context, s fixtures.Step) error {
	var params struct {
		Refresh *bool `json:"refreshToken,omitempty"`
	}
	method := map[string]string{"models": "model/list", "mcp": "mcpServerStatus/list", "account": "account/read", "sessions": "thread/list"}[s.What]
	switch s.What {
	case "commands":
		return c.Error("lists " + s.What)
	case "account":
		params.Refresh = new(bool)
	}
	_, err := c.requestRPC(method, params)
	return err
}

// BeforeClose answers the questions that would keep the process from exiting. It
// does so only now, because an answer would race with the next turn.
func (c *client) BeforeClose() error {
	for _, q := range c.stale {
		if !c.cfg.needsAnswers {
			break
		}
		if err := c.replyTo(q, fixtures.Step{Verb: fixtures.VerbAnswer, What: fixtures.AnswerDeny}); err != nil {
			return err
		}
		if err := c.d.Until("the end of the tool call that was asked about", func() bool {
			return q.method == askUser || c.tools[q.tool] != nil && c.tools[q.tool].completed
		}); err != nil {
			return err
		}
	}
	c.stale = nil
	return nil
}

// Request implements drive.Client.
func (c *client) Request(r drive.Read) error {
	var turn string
	if len(c.sent) > 0 {
		turn = c.sent[len(c.sent)-1].turn
	}
	params := strings.NewReplacer("THREAD", c.thread, "TURN", turn, "SIDE", c.side, "WORK", c.d.Work).Replace(r.Params)
	delete(c.seen, r.Then)
	sent, err := c.post(r.Method, jsontext.Value(params), nil)
	if err != nil {
		return err
	}
	if err := c.d.Until("the reply to "+r.Method, func() bool {
		return sent.done && (r.Then == "" || sent.err != nil || c.seen[r.Then])
	}); err != nil || r.Method != "thread/start" {
		return err
	}
	c.side, err = threadIn(r.Method, sent.result)
	return err
}

// Fence implements drive.Client.
func (c *client) Fence() error {
	return c.Request(drive.Read{Method: "thread/loaded/list", Params: "{}"})
}

// Reads implements drive.Client. They begin with those that change nothing and
// end with those that end the session.
func (c *client) Reads() []drive.Read {
	reads := []drive.Read{
		{Method: fixtures.UnknownMethod, Params: `{}`},
		{Method: "model/list", Params: `{}`},
		{Method: "modelProvider/capabilities/read", Params: `{}`},
		{Method: "collaborationMode/list", Params: `{}`},
		{Method: "permissionProfile/list", Params: `{"cwd":null}`},
		{Method: "experimentalFeature/list", Params: `{}`},
		{Method: "config/read", Params: `{"includeLayers":false}`},
		{Method: "configRequirements/read", Params: `{}`},
		{Method: "account/read", Params: `{"refreshToken":false}`},
		{Method: "account/rateLimits/read", Params: `{}`},
		{Method: "getAuthStatus", Params: `{"includeToken":false,"refreshToken":false}`},
		{Method: "mcpServerStatus/list", Params: `{}`},
		{Method: "skills/list", Params: `{}`},
		{Method: "hooks/list", Params: `{}`},
		{Method: "thread/list", Params: `{}`},
		{Method: "thread/loaded/list", Params: `{}`},
		{Method: "thread/read", Params: `{"threadId":"THREAD","includeTurns":true}`},
		{Method: "thread/turns/list", Params: `{"threadId":"THREAD","itemsView":"full"}`},
		{Method: "thread/items/list", Params: `{"threadId":"THREAD"}`},
		{Method: "thread/backgroundTerminals/list", Params: `{"threadId":"THREAD"}`},
		{Method: "thread/goal/get", Params: `{"threadId":"THREAD"}`},
		{Method: "thread/read", Params: `{"threadId":"` + fixtures.UnknownSession + `","includeTurns":true}`},
		{Method: "turn/interrupt", Params: `{"threadId":"THREAD","turnId":"TURN"}`},
		{Method: "turn/steer", Params: `{"threadId":"THREAD","expectedTurnId":"TURN","input":[{"type":"text","text":"No turn runs."}]}`},
		// Clients ask for a title in this way, outside of the session.
		{Method: "thread/start", Params: `{"cwd":"WORK","ephemeral":true}`, Then: c.cfg.started},
		{Method: "turn/start", Params: `{"threadId":"SIDE","input":[{"type":"text","text":"Which title has it?","text_elements":[]}],"outputSchema":` + titleSchema + `}`, Then: "turn/completed"},
		{Method: "thread/name/set", Params: `{"threadId":"THREAD","name":"Three rivers"}`, Then: "thread/name/updated"},
		{Method: "thread/resume", Params: `{"threadId":"THREAD"}`, Then: c.cfg.resumed},
		{Method: "thread/revert", Params: `{"threadId":"THREAD","beforeTurnId":"TURN"}`, Then: "thread/reverted"},
		{Method: "thread/rollback", Params: `{"threadId":"THREAD","numTurns":1}`},
		{Method: "thread/archive", Params: `{"threadId":"THREAD"}`, Then: "thread/archived"},
		{Method: "thread/unarchive", Params: `{"threadId":"THREAD"}`, Then: "thread/unarchived"},
		{Method: "thread/delete", Params: `{"threadId":"THREAD"}`, Then: "thread/deleted"},
	}
	for i := range reads {
		if slices.Contains(c.cfg.silent, reads[i].Then) {
			reads[i].Then = ""
		}
	}
	return slices.DeleteFunc(reads, func(r drive.Read) bool { return slices.Contains(c.cfg.unanswered, r.Method) })
}

const titleSchema = `{"type":"object","properties":{"title":{"type":"string"}},"required":["title"],"additionalProperties":false}`
