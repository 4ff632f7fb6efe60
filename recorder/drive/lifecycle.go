package drive

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/fixtures"
)

// ask is a read or a configuration that a client may make. THREAD in its
// parameters stands for the session's id, TURN for the id of its turn, SIDE for
// the thread that was started beside it, WORK for the working directory. then is
// the last line that comes with the answer, where it comes after it.
type ask struct{ method, params, then string }

// Asked says where in the wire a request of Lifecycle stands: the index of its
// line, that of its answer, and the index behind the lines that came with it.
type Asked struct {
	Method            string
	In, Answer, Limit int
}

// Lifecycle performs the scenario, then asks the runtime all that a client may
// read and configure, one request after the other.
func Lifecycle(ctx context.Context, o Options) ([]Asked, error) {
	var wire []fixtures.WireLine
	tee := o.Tee
	o.Tee = func(l fixtures.WireLine) {
		wire = append(wire, l)
		tee(l)
	}
	var out []Asked
	err := with(ctx, o, func(d *driver) error {
		if err := d.perform(); err != nil {
			return err
		}
		out = append(out, answered(wire, "initialize", 0, len(wire)))
		for _, a := range d.c.lifecycle() {
			from := len(wire)
			if err := d.c.request(a); err != nil {
				return fmt.Errorf("%s: %w", a.method, err)
			}
			fence := len(wire)
			if err := d.c.fence(); err != nil {
				return fmt.Errorf("after %s: %w", a.method, err)
			}
			q := answered(wire, a.method, from, fence)
			// What came until the fence was answered came with the request.
			q.Limit = len(wire) - 1
			out = append(out, q)
		}
		return d.close()
	})
	return out, err
}

// answered finds the first request at or after from, and its answer.
func answered(wire []fixtures.WireLine, method string, from, limit int) Asked {
	q := Asked{Method: method, In: -1}
	var id string
	for i := from; i < limit; i++ {
		switch got := requestID(wire[i]); {
		case wire[i].Dir == fixtures.In && q.In < 0:
			q.In, id = i, got
		case wire[i].Dir == fixtures.Out && got != "" && got == id:
			q.Answer, q.Limit = i, i+1
			return q
		}
	}
	return q
}

// requestID is the id of a request of the client, or of the answer to one.
func requestID(l fixtures.WireLine) string {
	var v struct {
		ID       jsontext.Value `json:"id"`
		Method   string         `json:"method"`
		Type     string         `json:"type"`
		ReqID    string         `json:"request_id"`
		Response struct {
			ReqID string `json:"request_id"`
		} `json:"response"`
	}
	if json.Unmarshal(l.Bytes, &v, asItCame) != nil {
		return ""
	}
	switch {
	case l.Dir == fixtures.Out && (v.Method != "" || v.Type == "control_request"):
		return "" // a request of the runtime
	case v.ReqID != "" || v.Response.ReqID != "":
		return v.ReqID + v.Response.ReqID
	}
	return string(v.ID)
}

func (c *codex) request(a ask) error {
	var turn string
	for _, m := range c.sent {
		turn = m.turn
	}
	p := strings.NewReplacer("THREAD", c.thread, "TURN", turn, "SIDE", c.side, "WORK", c.d.o.Work).Replace(a.params)
	delete(c.heard, a.then)
	r, err := c.post(a.method, jsontext.Value(p), nil)
	if err != nil {
		return err
	}
	if err := c.d.until("the reply to "+a.method, func() bool {
		return r.done && (a.then == "" || r.err != nil || c.heard[a.then])
	}); err != nil || a.method != "thread/start" {
		return err
	}
	var started struct {
		Thread struct {
			ID string `json:"id"`
		} `json:"thread"`
	}
	if err := json.Unmarshal(r.result, &started, asItCame); err != nil || started.Thread.ID == "" {
		return fmt.Errorf("thread/start: the result names no thread: %.200s", r.result)
	}
	c.side = started.Thread.ID
	return nil
}

func (c *codex) fence() error {
	return c.request(ask{"thread/loaded/list", "{}", ""})
}

// asks go from what only reads to what changes the session, and end with what
// ends its life.
func (c *codex) lifecycle() []ask {
	asks := []ask{
		{fixtures.Unknown, `{}`, ""},
		{"model/list", `{}`, ""},
		{"modelProvider/capabilities/read", `{}`, ""},
		{"collaborationMode/list", `{}`, ""},
		{"permissionProfile/list", `{"cwd":null}`, ""},
		{"experimentalFeature/list", `{}`, ""},
		{"config/read", `{"includeLayers":false}`, ""},
		{"configRequirements/read", `{}`, ""},
		{"account/read", `{"refreshToken":false}`, ""},
		{"account/rateLimits/read", `{}`, ""},
		{"getAuthStatus", `{"includeToken":false,"refreshToken":false}`, ""},
		{"mcpServerStatus/list", `{}`, ""},
		{"skills/list", `{}`, ""},
		{"hooks/list", `{}`, ""},
		{"thread/list", `{}`, ""},
		{"thread/loaded/list", `{}`, ""},
		{"thread/read", `{"threadId":"THREAD","includeTurns":true}`, ""},
		{"thread/turns/list", `{"threadId":"THREAD","itemsView":"full"}`, ""},
		{"thread/items/list", `{"threadId":"THREAD"}`, ""},
		{"thread/backgroundTerminals/list", `{"threadId":"THREAD"}`, ""},
		{"thread/goal/get", `{"threadId":"THREAD"}`, ""},
		{"thread/read", `{"threadId":"` + fixtures.UnknownSession + `","includeTurns":true}`, ""},
		{"turn/interrupt", `{"threadId":"THREAD","turnId":"TURN"}`, ""},
		{"turn/steer", `{"threadId":"THREAD","expectedTurnId":"TURN","input":[{"type":"text","text":"No turn runs."}]}`, ""},
		// Clients ask for a title so, beside the session.
		{"thread/start", `{"cwd":"WORK","ephemeral":true}`, c.cfg.codex.started},
		{"turn/start", `{"threadId":"SIDE","input":[{"type":"text","text":"Which title has it?","text_elements":[]}],"outputSchema":` + titleSchema + `}`, "turn/completed"},
		{"thread/name/set", `{"threadId":"THREAD","name":"Three rivers"}`, "thread/name/updated"},
		{"thread/resume", `{"threadId":"THREAD"}`, c.cfg.codex.resumed},
		{"thread/revert", `{"threadId":"THREAD","beforeTurnId":"TURN"}`, "thread/reverted"},
		{"thread/rollback", `{"threadId":"THREAD","numTurns":1}`, ""},
		{"thread/archive", `{"threadId":"THREAD"}`, "thread/archived"},
		{"thread/unarchive", `{"threadId":"THREAD"}`, "thread/unarchived"},
		{"thread/delete", `{"threadId":"THREAD"}`, "thread/deleted"},
	}
	for i := range asks {
		if slices.Contains(c.cfg.codex.silent, asks[i].then) {
			asks[i].then = ""
		}
	}
	// Without a turn that runs, some versions never answer an interrupt.
	return slices.DeleteFunc(asks, func(a ask) bool { return slices.Contains(c.cfg.codex.mute, a.method) })
}

const titleSchema = `{"type":"object","properties":{"title":{"type":"string"}},"required":["title"],"additionalProperties":false}`

func (c *claude) request(a ask) error {
	// The subtype stands first in a control request.
	members := strings.TrimPrefix(a.params, "{")
	if members != "}" {
		members = "," + members
	}
	r, err := c.post(jsontext.Value(fmt.Sprintf(`{"subtype":%q%s`, a.method, members)))
	if err != nil {
		return err
	}
	return c.d.until("the response to "+a.method, func() bool { return r.done })
}

func (c *claude) fence() error {
	return c.request(ask{"get_binary_version", "{}", ""})
}

func (c *claude) lifecycle() []ask {
	return []ask{
		{fixtures.Unknown, `{}`, ""},
		{"supported_models", `{}`, ""},
		{"supported_commands", `{}`, ""},
		{"account_info", `{}`, ""},
		{"get_binary_version", `{}`, ""},
		{"mcp_status", `{}`, ""},
		{"get_context_usage", `{}`, ""},
		{"get_session_cost", `{}`, ""},
		{"get_usage", `{}`, ""},
		{"get_settings", `{}`, ""},
		{"list_models", `{}`, ""},
		{"list_permission_rules", `{}`, ""},
		{"get_hooks_listing", `{}`, ""},
		{"background_tasks", `{}`, ""},
		{"file_suggestions", `{"query":"a"}`, ""},
		{"interrupt", `{}`, ""},
		{"cancel_async_message", `{"message_uuid":"00000000-0000-4000-8000-00000000ffff"}`, ""},
		{"stop_task", `{"task_id":"none"}`, ""},
		{"rewind_files", `{"user_message_id":"00000000-0000-4000-8000-000000006d31","dry_run":true}`, ""},
		{"mcp_set_servers", `{"servers":{}}`, ""},
		{"mcp_reconnect", `{"serverName":"none"}`, ""},
		{"mcp_toggle", `{"serverName":"none","enabled":false}`, ""},
		{"reload_plugins", `{}`, ""},
		{"reload_skills", `{}`, ""},
		{"set_max_thinking_tokens", `{"max_thinking_tokens":1024}`, ""},
		{"set_permission_mode", `{"mode":"plan"}`, ""},
		{"set_permission_mode", `{"mode":"dontAsk"}`, ""},
		{"set_permission_mode", `{"mode":"auto"}`, ""},
		{"set_permission_mode", `{"mode":"bypassPermissions"}`, ""},
		{"set_permission_mode", `{"mode":"acceptEdits"}`, ""},
		{"set_permission_mode", `{"mode":"default"}`, ""},
		{"set_model", `{"model":"sonnet"}`, ""},
		{"rename_session", `{"title":"Three rivers"}`, ""},
	}
}
