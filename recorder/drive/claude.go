package drive

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/fixtures"
)

// claudeSession is the session's id: chosen by the client, the same in every
// recording.
const claudeSession = "00000000-0000-4000-8000-5e5510000001"

// claude drives `claude -p` over stream-json.
type claude struct {
	d       *driver
	cfg     config
	session string
	nextID  int
	calls   map[string]*claudeReply
	asks    []claudeAsk
	closed  []claudeAsk // what is not open any more

	sent     map[string]string // message → its uuid
	priority map[string]string // of a message, by its uuid, if it has one
	taken    map[string]string // uuid → state of its command: queued, started, completed, cancelled
	mode     string            // of permissions
	retries  int
	state    string            // of the session: idle, running, requires_action
	turns    int               // inits less results
	owed     int               // turns that the runtime will begin by itself
	stopped  map[string]bool   // tasks that the client has stopped
	halting  bool              // an interrupt is under way: what it ends in the background gets no turn
	streams  bool              // a message streams
	block    string            // the tool call that the block is, which streams
	inputs   map[string]bool   // tool calls of whose input a part has streamed
	tools    map[string]bool   // tool calls that the wire shows
	results  map[string]bool   // tool calls whose result it shows
	bg       map[string]bool   // background tasks by task id → ended
	bgTool   map[string]string // tool → its task
	subs     map[string]bool   // background tasks that are sub-agents
	main     said
	agents   map[string]*said
	past     claudePast
	hooked   map[int]int // hooks by number → how often they were called
}

type claudeReply struct {
	id       string
	done     bool
	response jsontext.Value
	err      string
}

func newClaude(d *driver, cfg config) *claude {
	return &claude{
		d: d, cfg: cfg, session: claudeSession,
		sent: map[string]string{}, priority: map[string]string{}, taken: map[string]string{},
		inputs: map[string]bool{}, tools: map[string]bool{}, results: map[string]bool{}, bg: map[string]bool{}, bgTool: map[string]string{}, subs: map[string]bool{}, stopped: map[string]bool{}, agents: map[string]*said{}, hooked: map[int]int{},
	}
}

func (c *claude) open(a fixtures.Step) error {
	args := []string{
		"-p", "--output-format", "stream-json", "--input-format", "stream-json", "--verbose",
		"--permission-prompt-tool", "stdio", "--include-partial-messages", "--replay-user-messages",
	}
	args = append(append(args, c.cfg.claude.flags...), "--permission-mode", c.cfg.policy)
	if model := c.d.o.Scenario.OpenModel("claude"); model != "" {
		args = append(args, "--model", model)
	}
	session, err := c.sessionArgs(a)
	if err != nil {
		return err
	}
	args = append(args, session...)
	servers, err := claudeServers(c.d.o.Scenario.Servers)
	if err != nil {
		return err
	}
	args = append(args, servers...)
	conn := c.cfg.connect("claude", c.d.o.Model.URL())
	env := append([]string{"CLAUDE_CODE_SDK_READS_SESSION_STATE=1"}, conn.Env...)
	c.nextID, c.calls, c.asks, c.state, c.turns = 0, map[string]*claudeReply{}, nil, "", 0
	c.closed = nil
	c.owed, c.streams = 0, false
	c.bury()
	if err := c.d.spawn(append(append(args, conn.Args...), a.Args...), env); err != nil || a.What == "bare" {
		return err
	}
	return c.call(c.initialize())
}

// messageUUID is the uuid of a message: made of its id, the same in every
// recording.
func messageUUID(id string) string {
	hex := fmt.Sprintf("%x", id)
	if len(hex) > 12 {
		hex = fmt.Sprintf("%x", sha256.Sum256([]byte(id)))[:12]
	}
	return "00000000-0000-4000-8000-" + strings.Repeat("0", 12-len(hex)) + hex
}

type claudeUser struct {
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

func (c *claude) send(id, text string, files []string) error {
	return c.sendUser(id, text, files, "")
}

func (c *claude) sendUser(id, text string, files []string, priority string) error {
	u := claudeUser{Type: "user", UUID: messageUUID(id), Priority: priority}
	u.Message.Role, u.Message.Content = "user", text
	if len(files) > 0 {
		blocks, err := c.blocks(text, files)
		if err != nil {
			return err
		}
		u.Message.Content = blocks
	}
	c.sent[id], c.priority[u.UUID] = u.UUID, priority
	if err := c.write(u); err != nil {
		return err
	}
	if c.cfg.claude.lifecycles {
		// The runtime has the message when it says so: only then is it sure that
		// what follows finds it queued.
		return c.d.until("the runtime to take message "+id, func() bool { return c.taken[u.UUID] != "" })
	}
	return c.sentSilently(id, u.UUID)
}

func (c *claude) steer(string, string) error {
	return errors.New("claude has no steer: a message that is sent while a tool runs is injected (`send`)")
}

type claudeInterrupt struct {
	Subtype string `json:"subtype"`
	Queued  bool   `json:"cancel_queued,omitzero"` // and take back what waits
}

type claudeSubtype struct {
	Subtype string `json:"subtype"`
}

// stop interrupts the turn; one that a message has yet to begin is waited for,
// since an idle runtime takes no notice of an interrupt.
func (c *claude) stop() error { return c.interrupt(false) }

func (c *claude) interrupt(queued bool) error {
	if err := c.d.until("the turn to begin that is to be stopped", func() bool {
		return c.turns > 0 || !c.waits() || c.d.holding() // a summary is made before its turn begins
	}); err != nil {
		return err
	}
	c.halting = true
	defer func() { c.halting = false }()
	return c.call(claudeInterrupt{"interrupt", queued})
}

func (c *claude) write(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return c.d.write(b)
}

// call sends a control request and waits for its response.
func (c *claude) call(request any) error {
	r, err := c.post(request)
	if err != nil {
		return err
	}
	if err := c.d.until("the response to control request "+r.id, func() bool { return r.done }); err != nil {
		return err
	}
	if r.err != "" {
		return refusal{fmt.Errorf("control request %s: %w: %s", r.id, errRefused, r.err)}
	}
	return nil
}

func (c *claude) post(request any) (*claudeReply, error) {
	c.nextID++
	return c.postAs("r"+strconv.Itoa(c.nextID), request)
}

func (c *claude) postAs(id string, request any) (*claudeReply, error) {
	r := &claudeReply{id: id}
	c.calls[r.id] = r
	return r, c.write(struct {
		Type    string `json:"type"`
		ReqID   string `json:"request_id"`
		Request any    `json:"request"`
	}{"control_request", r.id, request})
}
