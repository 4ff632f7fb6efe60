package drive

import (
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/fixtures"
)

// codexExec drives `codex exec --json`: a process a turn. The message is all
// that it says, on stdin; the runtime has no way to ask, and a stop is a signal.
type codexExec struct {
	d      *driver
	cfg    config
	thread string
	calls  []string // the tool calls of the scenario, in order
	begun  int      // how many of them the wire shows
	closed int      // and how many of their results
	sent   string   // the message of the process that runs or ran last
	over   map[string]bool
}

func newCodexExec(d *driver, cfg config) *codexExec {
	c := &codexExec{d: d, cfg: cfg, over: map[string]bool{}}
	for _, r := range d.o.Scenario.Model[""] {
		for _, p := range r.Parts {
			if p.Tool != nil {
				c.calls = append(c.calls, p.Tool.ID)
			}
		}
	}
	return c
}

// program is the name that a runtime's program has.
func program(runtime string) string {
	if runtime == "codexexec" {
		return "codex"
	}
	return runtime
}

// open starts nothing: the first message does.
func (c *codexExec) open(a fixtures.Step) error {
	how := a.What
	if how == "fork" {
		return errors.New("codex exec cannot fork a thread")
	}
	if (how == "resume") != (c.thread != "") {
		return errors.New("the thread of the session goes on from turn to turn by itself")
	}
	return nil
}

func (c *codexExec) send(id, text string, files []string) error {
	if len(files) > 0 {
		return errors.New("codex exec takes images as arguments: the driver gives none")
	}
	args := append([]string{"exec", "--json"}, c.cfg.connect("codex", c.d.o.Model.URL()).Args...)
	args = append(args, "--sandbox", c.cfg.sandbox, "--cd", c.d.o.Work, "--skip-git-repo-check")
	if c.thread != "" {
		args = append(args, "resume", c.thread)
	}
	// A runtime without a queue gets the message when the turn has ended.
	if err := c.d.until("the end of the turn", c.idle); err != nil {
		return err
	}
	c.sent = id
	if err := c.d.spawn(args, nil); err != nil {
		return err
	}
	c.d.record(fixtures.WireLine{Dir: fixtures.In, Bytes: []byte(text)})
	if _, err := c.d.proc.Stdin().Write([]byte(text)); err != nil {
		return err
	}
	c.d.closed = true
	c.d.record(fixtures.WireLine{Dir: fixtures.EOF})
	return c.d.proc.Stdin().Close()
}

func (c *codexExec) stop() error { return c.d.signal(proc.SIGTERM) }

var errExec = errors.New("codex exec takes one message and then nothing more")

func (c *codexExec) steer(string, string) error     { return errExec }
func (c *codexExec) answer(fixtures.Step) error     { return errExec }
func (c *codexExec) set(string, string, bool) error { return errExec }
func (c *codexExec) request(ask) error              { return errExec }
func (c *codexExec) fence() error                   { return errExec }
func (c *codexExec) closing() error                 { return nil }
func (c *codexExec) lifecycle() []ask               { return nil }

// execTools are the items that tool calls make.
var execTools = []string{"command_execution", "file_change", "mcp_tool_call", "web_search", "todo_list", "collab_tool_call"}

func (c *codexExec) line(b []byte) {
	var l struct {
		Type   string `json:"type"`
		Thread string `json:"thread_id"`
		Item   struct {
			Type string `json:"type"`
		} `json:"item"`
	}
	if err := json.Unmarshal(b, &l, asItCame); err != nil {
		c.d.fail(fmt.Errorf("a line of stdout is not JSON: %w", err))
		return
	}
	tool := slices.Contains(execTools, l.Item.Type)
	switch {
	case l.Type == "thread.started":
		c.thread = l.Thread
	case l.Type == "item.started" && tool:
		c.begun++
	case l.Type == "item.completed" && tool:
		c.closed++
	}
}

func (c *codexExec) saw(id string, n int) bool {
	i := slices.Index(c.calls, id)
	return i >= 0 && i < n
}

func (c *codexExec) asking(string) bool       { return false }
func (c *codexExec) sawInput(string) bool     { return true }
func (c *codexExec) sawTool(id string) bool   { return c.saw(id, c.begun) }
func (c *codexExec) sawResult(id string) bool { return c.saw(id, c.closed) }
func (c *codexExec) sawOutput(string) bool    { return false }
func (c *codexExec) settled(bool) bool        { return true }
func (c *codexExec) taskEnded(string) bool    { return false }
func (c *codexExec) idle() bool               { return !c.d.alive }
func (c *codexExec) said() []*said            { return nil }

// ended is the end of the process: what a turn's last line says comes before it.
func (c *codexExec) ended(message string) bool {
	if c.sent == message && !c.d.alive {
		c.over[message] = true
	}
	return c.over[message]
}
func (c *codexExec) speaks() bool   { return c.d.alive }
func (c *codexExec) retrying() bool { return false }
