package drive

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
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

	sent    map[string]string // message → its uuid
	taken   map[string]string // uuid → state of its command: queued, started, completed, cancelled
	state   string            // of the session: idle, running, requires_action
	turns   int               // inits less results
	owed    int               // turns that the runtime will begin by itself
	streams bool              // a message streams
	tools   map[string]bool   // tool calls that the wire shows
	results map[string]bool   // tool calls whose result it shows
	bg      map[string]bool   // background tasks by task id → ended
	bgTool  map[string]string // tool → its task
	subs    map[string]bool   // background tasks that are sub-agents
	main    said
	agents  map[string]*said
}

type claudeAsk struct {
	id    string
	input jsontext.Value
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
		sent: map[string]string{}, taken: map[string]string{},
		tools: map[string]bool{}, results: map[string]bool{}, bg: map[string]bool{}, bgTool: map[string]string{}, subs: map[string]bool{}, agents: map[string]*said{},
	}
}

func (c *claude) open(how string) error {
	args := []string{
		"-p", "--output-format", "stream-json", "--input-format", "stream-json", "--verbose",
		"--permission-prompt-tool", "stdio", "--include-partial-messages", "--replay-user-messages",
		"--forward-subagent-text", "--permission-mode", c.cfg.policy,
	}
	switch how {
	case "":
		args = append(args, "--session-id", c.session)
	case "resume":
		args = append(args, "--resume", c.session)
	case "fork":
		args = append(args, "--resume", c.session, "--fork-session")
	}
	conn := c.cfg.connect("claude", c.d.o.Model.URL())
	env := append([]string{"CLAUDE_CODE_SDK_READS_SESSION_STATE=1"}, conn.Env...)
	c.nextID, c.calls, c.asks, c.state, c.turns = 0, map[string]*claudeReply{}, nil, "", 0
	c.owed, c.streams = 0, false
	if err := c.d.spawn(append(args, conn.Args...), env); err != nil {
		return err
	}
	return c.call(struct {
		Subtype string `json:"subtype"`
	}{"initialize"})
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
		Content string `json:"content"`
	} `json:"message"`
	Parent *string `json:"parent_tool_use_id"`
}

func (c *claude) send(id, text string) error {
	u := claudeUser{Type: "user", UUID: messageUUID(id)}
	u.Message.Role, u.Message.Content = "user", text
	c.sent[id] = u.UUID
	if err := c.write(u); err != nil {
		return err
	}
	// The runtime has the message when it says so: only then is it sure that
	// what follows finds it queued.
	return c.d.until("the runtime to take message "+id, func() bool { return c.taken[u.UUID] != "" })
}

func (c *claude) steer(string, string) error {
	return errors.New("claude has no steer: a message that is sent while a tool runs is injected (`send`)")
}

type claudeSubtype struct {
	Subtype string `json:"subtype"`
}

func (c *claude) stop() error {
	return c.call(claudeSubtype{"interrupt"})
}

func (c *claude) set(what, value string) error {
	if what == "model" {
		return c.call(struct {
			Subtype string `json:"subtype"`
			Model   string `json:"model"`
		}{"set_model", value})
	}
	return c.call(struct {
		Subtype string `json:"subtype"`
		Mode    string `json:"mode"`
	}{"set_permission_mode", value})
}

// claudeDecision answers a question of the runtime.
type claudeDecision struct {
	Behavior  string         `json:"behavior"`
	Input     jsontext.Value `json:"updatedInput,omitempty"`
	Message   string         `json:"message,omitempty"`
	Interrupt bool           `json:"interrupt,omitzero"`
}

func (c *claude) answer(what string) error {
	if len(c.asks) == 0 {
		return errors.New("nothing was asked: `wait ask` first")
	}
	ask := c.asks[0]
	c.asks = c.asks[1:]
	var d claudeDecision
	switch what {
	case "allow":
		d = claudeDecision{Behavior: "allow", Input: ask.input}
	case "deny":
		d = claudeDecision{Behavior: "deny", Message: "The user said no."}
	case "cancel":
		d = claudeDecision{Behavior: "deny", Message: "The user said no.", Interrupt: true}
	default: // the input as the user filled it in
		d = claudeDecision{Behavior: "allow", Input: jsontext.Value(what)}
	}
	type response struct {
		Subtype  string         `json:"subtype"`
		ReqID    string         `json:"request_id"`
		Response claudeDecision `json:"response"`
	}
	return c.write(struct {
		Type     string   `json:"type"`
		Response response `json:"response"`
	}{"control_response", response{"success", ask.id, d}})
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
		return fmt.Errorf("control request %s: %s", r.id, r.err)
	}
	return nil
}

func (c *claude) post(request any) (*claudeReply, error) {
	c.nextID++
	r := &claudeReply{id: "r" + strconv.Itoa(c.nextID)}
	c.calls[r.id] = r
	return r, c.write(struct {
		Type    string `json:"type"`
		ReqID   string `json:"request_id"`
		Request any    `json:"request"`
	}{"control_request", r.id, request})
}
