package drive

import (
	"fmt"
	"os"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/fixtures"
)

// notSupported is the error reply to what the driver cannot answer.
const notSupported = "not supported by this client"

// heldCall is a call of the runtime to a tool or a hook of the client, which is
// answered when the file that it waits for is written.
type heldCall struct {
	id     string
	file   string
	answer func() error
	giveUp func() error // says that there will be no answer
}

// call notes a call and answers it, now or when its file is written.
func (d *driver) call(id, name, file string, answer, giveUp func() error) error {
	d.called[name] = true
	if file == "" || d.written[file] {
		return answer()
	}
	d.held = append(d.held, &heldCall{id, file, answer, giveUp})
	return nil
}

// answerCalls answers the calls whose files have been written.
func (d *driver) answerCalls() error {
	var rest []*heldCall
	for _, h := range d.held {
		if !d.written[h.file] {
			rest = append(rest, h)
		} else if err := h.answer(); err != nil {
			return err
		}
	}
	d.held = rest
	return nil
}

// withdrawn forgets a call that the runtime has taken back.
func (d *driver) withdrawn(id string) {
	d.held = slices.DeleteFunc(d.held, func(h *heldCall) bool { return h.id == id })
}

// giveUp tells the runtime that a call which it takes back gets no answer.
func (d *driver) giveUp(id string) error {
	i := slices.IndexFunc(d.held, func(h *heldCall) bool { return h.id == id })
	if i < 0 {
		return nil
	}
	h := d.held[i]
	d.held = slices.Delete(d.held, i, i+1)
	return h.giveUp()
}

// giveUpCalls tells the runtime that what is held gets no answer: the turn has
// ended.
func (d *driver) giveUpCalls() {
	held := d.held
	d.held = nil
	for _, h := range held {
		if err := h.giveUp(); err != nil {
			d.fail(err)
		}
	}
}

func (d *driver) tool(name string) *fixtures.Tool {
	for i := range d.o.Scenario.Tools {
		if t := &d.o.Scenario.Tools[i]; t.Name == name {
			return t
		}
	}
	return nil
}

// schemaOf is the schema of a tool's input.
func schemaOf(t *fixtures.Tool) jsontext.Value {
	if t.Schema == nil {
		return jsontext.Value(`{"type":"object","properties":{}}`)
	}
	return t.Schema
}

func mimeOf(c fixtures.Content) string {
	if c.MIME == "" {
		return "image/png"
	}
	return c.MIME
}

// codexServers are the arguments that let Codex start the scenario's MCP
// servers. For a client with a policy it asks about each of their tools.
func codexServers(scn *fixtures.Scenario) []string {
	var args []string
	for _, s := range scn.Servers {
		set := fmt.Sprintf("command=%q", fixtures.ServerCommand(s.Name))
		if scn.Policy != nil {
			set += `,default_tools_approval_mode="prompt"`
		}
		args = append(args, "-c", fmt.Sprintf("mcp_servers.%s={%s}", s.Name, set))
	}
	return args
}

// claudeServers are those for Claude Code.
func claudeServers(servers []fixtures.Server) ([]string, error) {
	if len(servers) == 0 {
		return nil, nil
	}
	type server struct {
		Command string   `json:"command"`
		Args    []string `json:"args"`
	}
	config := struct {
		Servers map[string]server `json:"mcpServers"`
	}{map[string]server{}}
	for _, s := range servers {
		config.Servers[s.Name] = server{fixtures.ServerCommand(s.Name), []string{}}
	}
	b, err := json.Marshal(config, json.Deterministic(true))
	return []string{"--mcp-config", string(b)}, err
}

// read is a file of the workspace.
func (d *driver) read(name string) ([]byte, error) { return os.ReadFile(d.workFile(name)) }
