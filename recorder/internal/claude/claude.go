// Package claude drives `claude -p` over stream-json for the recorder.
package claude

import (
	"context"
	"crypto/sha256"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/turnspec/turnspec/adapters/op"
	wireclaude "github.com/turnspec/turnspec/fixtures/wire/claude"
	"github.com/turnspec/turnspec/recorder/internal/drive"

	"github.com/turnspec/turnspec/fixtures"
)

// Runtime is Claude Code.
var Runtime = &drive.Runtime{
	Wire:       wireclaude.Runtime,
	New:        newClaude,
	Connect:    connect,
	ReadSchema: readSchema,
	VersionIn:  regexp.MustCompile(`"claude_code_version"\s*:\s*"([0-9][0-9A-Za-z.-]*)"`),
	SessionIn:  regexp.MustCompile(`"session_id"\s*:`),
	Options:    []string{"instructions", "replacing instructions", "effort", "max requests", "max cost", "extra dirs", "setting sources"},
	Aliases:    []string{"claudeAgent"},
}

// client drives one run.
type client struct {
	drive.Unsupported
	d   *drive.Driver
	cfg config

	session string
	nextID  int
	calls   map[string]*call
	open    []question
	closed  []question // those that the runtime has cancelled

	sent     map[string]string // the uuid of each message
	priority map[string]string // of a message, by its uuid
	queue    map[string]string // the state of each message, by its uuid: see queue.go
	mode     string            // the permission mode
	retries  int
	state    string // of the session: idle, running, requires_action
	turns    int    // inits minus results
	owed     int    // turns that the runtime will begin by itself

	interrupting bool            // background work that an interrupt ends gets no turn
	streams      bool            // a message is being streamed
	block        string          // the tool call whose block is being streamed
	inputs       map[string]bool // tool calls of whose input a part was streamed
	tools        map[string]bool // tool calls that the wire shows
	results      map[string]bool // tool calls whose result it shows
	tasks        map[string]*task
	taskOf       map[string]string // the background task of a tool call
	main         drive.Text
	agents       map[string]*drive.Text
	past         past
	hookCalls    map[int]int // how often each hook was called, by its number
}

// task is background work.
type task struct{ ended, agent, stopped bool }

// call is a control request of the client.
type call struct {
	id   string
	done bool
	err  string
}

func newClaude(d *drive.Driver) (drive.Client, error) {
	cfg, err := configFor(d.Version, d.Scenario.InitialMode(), d.Scenario.Needs)
	d.Hide(`"request_id":"` + hiddenID + `"`)
	return &client{
		Unsupported: "claude", d: d, cfg: cfg, session: sessionID(0),
		sent: map[string]string{}, priority: map[string]string{}, queue: map[string]string{},
		inputs: map[string]bool{}, tools: map[string]bool{}, results: map[string]bool{},
		tasks: map[string]*task{}, taskOf: map[string]string{}, agents: map[string]*drive.Text{}, hookCalls: map[int]int{},
	}, err
}

// Open implements drive.Client.
func (c *client) Open(_ context.Context, s fixtures.Step) error {
	args := []string{
		"-p", "--output-format", "stream-json", "--input-format", "stream-json", "--verbose",
		"--permission-prompt-tool", "stdio", "--include-partial-messages", "--replay-user-messages",
	}
	args = append(append(args, c.cfg.flags...), "--permission-mode", c.cfg.mode)
	if model := c.d.Scenario.OpenModel("claude", c.d.Version); model != "" {
		args = append(args, "--model", model)
	}
	if text := c.d.Scenario.Opening.Instructions; text != "" && c.d.Scenario.Opening.ReplaceInstructions {
		args = append(args, "--system-prompt", text)
	} else if text != "" {
		args = append(args, "--append-system-prompt", text)
	}
	args = append(args, c.optionArgs()...)
	session, err := c.sessionArgs(s)
	if err != nil {
		return err
	}
	args = append(args, session...)
	servers, err := serverArgs(c.d.Scenario.Servers)
	if err != nil {
		return err
	}
	args = append(args, servers...)
	conn := c.cfg.connection(c.d.Model.URL())
	env := append([]string{"CLAUDE_CODE_SDK_READS_SESSION_STATE=1"}, conn.Env...)
	c.nextID, c.calls, c.open, c.closed, c.state, c.turns = 0, map[string]*call{}, nil, nil, "", 0
	c.owed, c.streams = 0, false
	c.endProcess()
	if err := c.d.Spawn(append(append(args, conn.Args...), s.Args...), env); err != nil || s.What == "bare" {
		return err
	}
	return c.requestControl(c.initialize())
}

// messageUUID makes the uuid of a message from its id, so that it is the same in
// each recording.
func messageUUID(id string) string {
	hex := fmt.Sprintf("%x", id)
	if len(hex) > 12 {
		hex = fmt.Sprintf("%x", sha256.Sum256([]byte(id)))[:12]
	}
	return "00000000-0000-4000-8000-" + strings.Repeat("0", 12-len(hex)) + hex
}

type userMessage struct {
	Type      string `json:"type"`
	UUID      string `json:"uuid"`
	SessionID string `json:"session_id"`
	Message   struct {
		Role    string `json:"role"`
		Content any    `json:"content"` // a string, or blocks
	} `json:"message"`
	Parent   *string `json:"parent_tool_use_id"`
	Priority string  `json:"priority,omitempty"`
}

func (c *client) writeMessage(id string, content any, priority string) (uuid string, err error) {
	u := userMessage{Type: "user", UUID: messageUUID(id), Priority: priority}
	u.Message.Role, u.Message.Content = "user", content
	c.sent[id], c.priority[u.UUID] = u.UUID, priority
	return u.UUID, c.d.Write(u)
}

// Send implements drive.Client. A message that is sent while a tool runs is
// injected into the turn.
func (c *client) Send(_ context.Context, s fixtures.Step) error {
	var content any = s.Text
	if s.ByPath {
		return c.Error("takes the path of a picture")
	}
	if len(s.Files) > 0 {
		blocks, err := c.messageBlocks(s.Text, s.Files)
		if err != nil {
			return err
		}
		content = blocks
	}
	uuid, err := c.writeMessage(s.ID, content, s.What)
	if err != nil {
		return err
	}
	if !c.cfg.reportsQueue {
		return c.waitRead(s.ID, uuid)
	}
	// Only when the runtime has reported the message is it certain that the next
	// step finds it queued.
	return c.d.Until("the runtime to report message "+s.ID, func() bool { return c.queue[uuid] != "" })
}

type interrupt struct {
	Subtype string `json:"subtype"`
	Queued  bool   `json:"cancel_queued,omitzero"` // remove queued messages
}

// Operations implements drive.Client.
func (c *client) Operations() map[*op.Op]drive.Operation {
	return map[*op.Op]drive.Operation{
		op.SetModel: c.set,
		op.SetMode:  c.set,
		op.StopAll:  c.stopAll,
		op.StopTask: c.stopTask,
		op.Withdraw: c.withdraw,
		op.Rewind:   c.rewind,
		op.Compact:  c.compact,
		op.Rename:   c.rename,
		op.List:     c.list,
	}
}

// Stop implements drive.Client.
func (c *client) Stop(context.Context) error { return c.interrupt(false) }

func (c *client) stopAll(context.Context, fixtures.Step) error {
	err := c.interrupt(true)
	if err == nil {
		c.moveAll(queued, cancelled) // older versions do not report it
	}
	return err
}

// interrupt stops the turn, and waits before that for the turn of a message that
// was sent, because an idle runtime ignores an interrupt.
func (c *client) interrupt(all bool) error {
	if err := c.d.Until("the turn to begin that is to be stopped", func() bool {
		return c.turns > 0 || !c.hasUnfinished() || c.d.Holding() // a summary is made before its turn begins
	}); err != nil {
		return err
	}
	c.interrupting = true
	defer func() { c.interrupting = false }()
	return c.requestControl(interrupt{"interrupt", all})
}

func (c *client) stopTask(_ context.Context, s fixtures.Step) error {
	id := c.taskOf[s.ID]
	if id == "" {
		return fmt.Errorf("tool %s runs nothing in the background", s.ID)
	}
	c.tasks[id].stopped = true
	return c.requestControl(struct {
		Subtype string `json:"subtype"`
		Task    string `json:"task_id"`
	}{"stop_task", id})
}

func (c *client) withdraw(_ context.Context, s fixtures.Step) error {
	uuid := c.sent[s.ID]
	err := c.requestControl(struct {
		Subtype string `json:"subtype"`
		Message string `json:"message_uuid"`
	}{"cancel_async_message", uuid})
	if err == nil && !c.cfg.reportsQueue && c.queue[uuid] == queued {
		c.queue[uuid] = cancelled
	}
	return err
}

// requestControl sends a control request and waits for its response.
func (c *client) requestControl(body any) error {
	r, err := c.post(body)
	if err != nil {
		return err
	}
	if err := c.d.Until("the response to control request "+r.id, func() bool { return r.done }); err != nil {
		return err
	}
	if r.err != "" {
		return drive.Refusef("control request %s: the runtime refused: %s", r.id, r.err)
	}
	return nil
}

func (c *client) post(body any) (*call, error) {
	c.nextID++
	return c.postAs("r"+strconv.Itoa(c.nextID), body)
}

func (c *client) postAs(id string, body any) (*call, error) {
	r := &call{id: id}
	c.calls[id] = r
	return r, c.d.Write(struct {
		Type    string `json:"type"`
		ReqID   string `json:"request_id"`
		Request any    `json:"request"`
	}{"control_request", id, body})
}
