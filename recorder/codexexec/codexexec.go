// Package codexexec drives `codex exec --json` for the recorder. Each message
// starts a process, which reads the message from stdin and exits after its turn.
// The runtime cannot ask, and a stop is a signal.
package codexexec

import (
	"context"
	"errors"
	"slices"

	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/wire"
	wireexec "github.com/turnspec/turnspec/fixtures/wire/codexexec"
	"github.com/turnspec/turnspec/recorder/codex"
	"github.com/turnspec/turnspec/recorder/drive"
)

// Runtime is `codex exec --json`.
var Runtime = &drive.Runtime{
	Wire:           wireexec.Runtime,
	New:            newCodexExec,
	Connect:        codex.Connect,
	ProcessPerTurn: true,
	Options:        []string{"effort"},
}

// client drives one run.
type client struct {
	drive.Unsupported
	d         *drive.Driver
	cfg       codex.Config
	thread    string
	calls     []string // the tool calls of the scenario, in order
	started   int      // how many of them the wire shows
	completed int      // and how many of their results
	message   string   // the message of the last process
	ended     map[string]bool
}

func newCodexExec(d *drive.Driver) (drive.Client, error) {
	cfg, err := codex.ConfigFor(d.Version, d.Scenario.InitialMode(), d.Scenario.Needs)
	c := &client{Unsupported: "codexexec", d: d, cfg: cfg, ended: map[string]bool{}}
	for _, r := range d.Scenario.Model[""] {
		for _, p := range r.Parts {
			if p.Tool != nil {
				c.calls = append(c.calls, p.Tool.ID)
			}
		}
	}
	return c, err
}

// Open implements drive.Client. It starts nothing: the first message does.
func (c *client) Open(_ context.Context, s fixtures.Step) error {
	switch {
	case s.What == "fork":
		return c.Error("forks a session")
	case (s.What == "resume") != (c.thread != ""):
		return errors.New("codex exec continues its session with each message: remove the open")
	}
	return nil
}

// Send implements drive.Client. The runtime has no queue, so a message waits for
// the end of the turn.
func (c *client) Send(_ context.Context, s fixtures.Step) error {
	if len(s.Files) > 0 || s.What != "" {
		return c.Error("sends a message with files or a priority")
	}
	args := append([]string{"exec", "--json"}, c.cfg.Args(c.d.Model.URL())...)
	args = append(append(args, codex.ServerArgs(c.d.Scenario)...), codex.OptionArgs(c.d)...)
	if model := c.d.Scenario.OpenModel("codexexec"); model != "" {
		args = append(args, "--model", model)
	}
	if text := c.d.Scenario.Instructions; text != "" {
		if c.d.Scenario.ReplacesInstructions {
			return c.Error("replaces the runtime's instructions by a text")
		}
		args = append(args, "-c", "developer_instructions="+string(wire.Quote(text)))
	}
	args = append(args, "--sandbox", c.cfg.Sandbox(), "--cd", c.d.Work, "--skip-git-repo-check")
	if c.thread != "" {
		args = append(args, "resume", c.thread)
	}
	if err := c.d.Until("the end of the turn", c.Idle); err != nil {
		return err
	}
	c.message = s.ID
	if err := c.d.Spawn(args, nil); err != nil {
		return err
	}
	return c.d.WriteAll(s.Text)
}

// Stop implements drive.Client.
func (c *client) Stop(context.Context) error { return c.d.Signal(proc.SIGTERM) }

// toolItems are the types of items that tool calls make.
var toolItems = []string{"command_execution", "file_change", "mcp_tool_call", "web_search", "todo_list", "collab_tool_call"}

// Read implements drive.Client.
func (c *client) Read(b []byte) {
	l := c.d.Runtime.Wire.ReadOutput(b)
	if l.Opened != "" {
		c.thread = l.Opened
	}
	if !slices.Contains(toolItems, l.Type) {
		return
	}
	if l.Kind == wire.Item {
		c.completed++
	} else if l.Name == "item.started("+l.Type+")" {
		c.started++
	}
}

// among reports whether a tool call is among the first n. Items have no ids of
// the model.
func (c *client) among(id string, n int) bool {
	i := slices.Index(c.calls, id)
	return i >= 0 && i < n
}

// Asks implements drive.Client.
func (c *client) Asks(string) bool { return false }

// ShowsInput implements drive.Client.
func (c *client) ShowsInput(string) bool { return true }

// ShowsTool implements drive.Client.
func (c *client) ShowsTool(id string) bool { return c.among(id, c.started) }

// ShowsResult implements drive.Client.
func (c *client) ShowsResult(id string) bool { return c.among(id, c.completed) }

// ShowsOutput implements drive.Client.
func (c *client) ShowsOutput(string) bool { return false }

// Settled implements drive.Client.
func (c *client) Settled(bool) bool { return true }

// Streams implements drive.Client.
func (c *client) Streams() bool { return c.d.Alive() }

// TaskEnded implements drive.Client.
func (c *client) TaskEnded(string) bool { return false }

// Idle implements drive.Client.
func (c *client) Idle() bool { return !c.d.Alive() }

// Ended implements drive.Client. A turn ends with its process, because the last
// lines of the turn come before.
func (c *client) Ended(message string) bool {
	if c.message == message && !c.d.Alive() {
		c.ended[message] = true
	}
	return c.ended[message]
}

// Retries implements drive.Client.
func (c *client) Retries() bool { return false }

// Texts implements drive.Client. Texts come whole, after their reply, so that no hold after
// a part of one is reached. An empty one lets a hold before the first part be reached.
func (c *client) Texts() []*drive.Text { return []*drive.Text{{}} }
