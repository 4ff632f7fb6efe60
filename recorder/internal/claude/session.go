package claude

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/recorder/internal/drive"
)

// past is what the client keeps from one process to the next.
type past struct {
	raw       drive.RawRequests
	sessions  []string          // opened, in order
	last      string            // the uuid of the last line of the main agent
	ends      map[string]string // the uuid of the last line of a message's turn
	compacted int
}

// openSession handles the id of a session that the runtime reports.
func (c *client) openSession(id string) {
	c.session = id
	if !slices.Contains(c.past.sessions, id) {
		c.past.sessions = append(c.past.sessions, id)
	}
}

// endProcess handles what an ended process has left open as ended.
func (c *client) endProcess() {
	c.past.raw = drive.RawRequests{}
	if c.past.ends == nil {
		c.past.ends = map[string]string{}
	}
	for id, uuid := range c.sent {
		if !c.finished(id) {
			c.queue[uuid] = cancelled
		}
	}
	for _, t := range c.tasks {
		t.ended = true
	}
}

// sessionID is the id of the nth session that is opened. The client chooses it, so
// that it is the same in each recording.
func sessionID(n int) string { return fmt.Sprintf("00000000-0000-4000-8000-5e551%07d", n+1) }

// sessionArgs returns the options that open a session.
func (c *client) sessionArgs(s fixtures.Step) ([]string, error) {
	session, err := drive.SessionOf(s, c.past.sessions, c.session)
	if err != nil {
		return nil, err
	}
	var args []string
	switch s.What {
	case "", "bare":
		c.session = sessionID(len(c.past.sessions))
		return []string{"--session-id", c.session}, nil
	case "resume":
		args = []string{"--resume", session}
	case "fork":
		c.session = sessionID(len(c.past.sessions))
		args = []string{"--resume", session, "--fork-session", "--session-id", c.session}
	default:
		return nil, c.Error("restores a session from an archive")
	}
	if s.At != "" {
		args = append(args, "--resume-session-at", c.past.ends[s.At])
	}
	return args, nil
}

// Compact implements drive.Client. It sends a user message, which the runtime
// handles as a command.
func (c *client) Compact(ctx context.Context) error {
	c.past.compacted++
	id := "compact" + strconv.Itoa(c.past.compacted)
	if c.cfg.reportsQueue {
		return c.Send(ctx, fixtures.Step{ID: id, Text: "/compact"})
	}
	// Its turn begins, on this wire, only after the work.
	c.queue[messageUUID(id)] = queued
	_, err := c.writeMessage(id, "/compact", "")
	return err
}

// Rewind implements drive.Client.
func (c *client) Rewind(_ context.Context, message string, dry bool) error {
	return c.requestControl(struct {
		Subtype string `json:"subtype"`
		Message string `json:"user_message_id"`
		Dry     bool   `json:"dry_run,omitzero"`
	}{"rewind_files", messageUUID(message), dry})
}

// Rename implements drive.Client.
func (c *client) Rename(_ context.Context, text string) error {
	return c.requestControl(struct {
		Subtype string `json:"subtype"`
		Title   string `json:"title"`
	}{"rename_session", text})
}

// List implements drive.Client. The handshake holds all lists but that of the servers.
func (c *client) List(_ context.Context, list string) error {
	switch list {
	case "models", "commands", "account":
		return nil
	case "mcp":
		return c.requestControl(struct {
			Subtype string `json:"subtype"`
		}{"mcp_status"})
	}
	return c.Error("lists " + list)
}

// Raw implements drive.Client.
func (c *client) Raw(_ context.Context, s fixtures.Step) error {
	return c.d.WriteRequest(c.past.raw, strings.ReplaceAll(s.Text, "SESSION", c.session))
}

// BeforeClose interrupts a running turn. If its stdin is closed, the runtime
// would finish the turn first.
func (c *client) BeforeClose() error {
	if c.turns <= 0 || len(c.past.raw) > 0 {
		return nil
	}
	_, err := c.post(interrupt{Subtype: "interrupt"})
	return err
}

// Request implements drive.Client.
func (c *client) Request(r drive.Read) error {
	// The subtype is the first member of a control request.
	members := strings.TrimPrefix(r.Params, "{")
	if members != "}" {
		members = "," + members
	}
	sent, err := c.post(jsontext.Value(fmt.Sprintf(`{"subtype":%q%s`, r.Method, members)))
	if err != nil {
		return err
	}
	return c.d.Until("the response to "+r.Method, func() bool { return sent.done })
}

// Fence implements drive.Client.
func (c *client) Fence() error {
	return c.Request(drive.Read{Method: "get_binary_version", Params: "{}"})
}

// Reads implements drive.Client.
func (c *client) Reads() []drive.Read {
	return []drive.Read{
		{Method: fixtures.UnknownMethod, Params: `{}`},
		{Method: "supported_models", Params: `{}`},
		{Method: "supported_commands", Params: `{}`},
		{Method: "account_info", Params: `{}`},
		{Method: "get_binary_version", Params: `{}`},
		{Method: "mcp_status", Params: `{}`},
		{Method: "get_context_usage", Params: `{}`},
		{Method: "get_session_cost", Params: `{}`},
		{Method: "get_usage", Params: `{}`},
		{Method: "get_settings", Params: `{}`},
		{Method: "list_models", Params: `{}`},
		{Method: "list_permission_rules", Params: `{}`},
		{Method: "get_hooks_listing", Params: `{}`},
		{Method: "background_tasks", Params: `{}`},
		{Method: "file_suggestions", Params: `{"query":"a"}`},
		{Method: "interrupt", Params: `{}`},
		{Method: "cancel_async_message", Params: `{"message_uuid":"00000000-0000-4000-8000-00000000ffff"}`},
		{Method: "stop_task", Params: `{"task_id":"none"}`},
		{Method: "rewind_files", Params: `{"user_message_id":"00000000-0000-4000-8000-000000006d31","dry_run":true}`},
		{Method: "mcp_set_servers", Params: `{"servers":{}}`},
		{Method: "mcp_reconnect", Params: `{"serverName":"none"}`},
		{Method: "mcp_toggle", Params: `{"serverName":"none","enabled":false}`},
		{Method: "reload_plugins", Params: `{}`},
		{Method: "reload_skills", Params: `{}`},
		{Method: "set_max_thinking_tokens", Params: `{"max_thinking_tokens":1024}`},
		{Method: "set_permission_mode", Params: `{"mode":"plan"}`},
		{Method: "set_permission_mode", Params: `{"mode":"dontAsk"}`},
		{Method: "set_permission_mode", Params: `{"mode":"auto"}`},
		{Method: "set_permission_mode", Params: `{"mode":"bypassPermissions"}`},
		{Method: "set_permission_mode", Params: `{"mode":"acceptEdits"}`},
		{Method: "set_permission_mode", Params: `{"mode":"default"}`},
		{Method: "set_model", Params: `{"model":"sonnet"}`},
		{Method: "rename_session", Params: `{"title":"Three rivers"}`},
	}
}

// optionArgs are the arguments for the further options of the session.
func (c *client) optionArgs() (args []string) {
	o := &c.d.Scenario.Opening
	if o.Effort != "" {
		args = append(args, "--effort", o.Effort)
	}
	if o.MaxRequests > 0 {
		args = append(args, "--max-turns", strconv.Itoa(o.MaxRequests))
	}
	if o.MaxCost > 0 {
		args = append(args, "--max-budget-usd", strconv.FormatFloat(o.MaxCost, 'f', -1, 64))
	}
	for _, dir := range o.ExtraDirs {
		args = append(args, "--add-dir", c.d.Path(dir))
	}
	if len(o.SettingSources) > 0 {
		args = append(args, "--setting-sources", strings.Join(o.SettingSources, ","))
	}
	return args
}
