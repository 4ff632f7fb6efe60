package opencode

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/recorder/internal/drive"
)

// Config is how the program is started for what a scenario needs.
type Config struct {
	Servers     []fixtures.Server
	rules       []rule
	compacts    bool
	shortIdle   bool // the runtime gives up a silent stream soon
	unreachable bool // the model cannot be reached
}

// rule is a permission rule of a session. The last that fits a call counts.
type rule struct {
	Permission string `json:"permission"`
	Pattern    string `json:"pattern"`
	Action     string `json:"action"`
}

// The names of the provider and of its models, of which the first is the default.
const providerName = "scripted"

var models = []string{"river-1", "river-2"}

// askedTools are the permissions that are asked for, by the modes of scenarios.
var askedTools = map[string][]string{
	"never": nil, "ask": {"bash", "edit", "external_directory"}, "accept-edits": {"bash", "external_directory"}, "plan": nil,
}

func rulesFor(asked []string) []rule {
	out := []rule{{"*", "*", "allow"}}
	for _, tool := range asked {
		out = append(out, rule{tool, "*", "ask"})
	}
	return out
}

// ConfigFor returns how the program is started. The versions do not differ in it.
func ConfigFor(mode string, needs []string) (Config, error) {
	asks, ok := askedTools[mode]
	c := Config{rules: rulesFor(asks)}
	if !ok {
		return c, fmt.Errorf("mode: opencode has no mode %q: write `not on opencode: REASON` in the scenario", mode)
	}
	for _, n := range needs {
		switch n {
		case "permission", "subagent", "question", "task-list", "search-tools", "plan", "few-retries", "joins-turn":
		case "short-idle":
			c.shortIdle = true
		case "compaction":
			c.compacts = true
		case "no-model":
			c.unreachable = true
		default:
			return c, fmt.Errorf("needs: opencode has no configuration for %q: write `not on opencode: REASON` in the scenario", n)
		}
	}
	return c, nil
}

// Connect is drive.Runtime.Connect.
func Connect(_, mode string, needs []string, modelURL string) (drive.Connection, error) {
	c, err := ConfigFor(mode, needs)
	return c.Connection(modelURL), err
}

type settings struct {
	AutoUpdate bool                `json:"autoupdate"`
	Share      string              `json:"share"`
	Snapshot   bool                `json:"snapshot"`
	Model      string              `json:"model"`
	SmallModel string              `json:"small_model"`
	Enabled    []string            `json:"enabled_providers"`
	Provider   map[string]provider `json:"provider"`
	Compaction map[string]bool     `json:"compaction"`
	// Permission holds for each agent. The rules of a session do not hold for its sub-agents.
	Permission map[string]string     `json:"permission,omitempty"`
	MCP        map[string]toolServer `json:"mcp,omitempty"`
}

type provider struct {
	NPM     string              `json:"npm"`
	Name    string              `json:"name"`
	Options providerOptions     `json:"options"`
	Models  map[string]modelOpt `json:"models"`
}

type providerOptions struct {
	BaseURL string `json:"baseURL"`
	APIKey  string `json:"apiKey"`
	// ChunkTimeout is how many milliseconds a stream may be silent; 0: five minutes.
	ChunkTimeout int `json:"chunkTimeout,omitzero"`
}

type modelOpt struct {
	Name       string              `json:"name"`
	Reasoning  bool                `json:"reasoning"`
	ToolCall   bool                `json:"tool_call"`
	Attachment bool                `json:"attachment"`
	Modalities map[string][]string `json:"modalities"`
	Limit      map[string]int      `json:"limit"`
	Cost       map[string]float64  `json:"cost"`
}

type toolServer struct {
	Type        string            `json:"type"`
	Command     []string          `json:"command,omitempty"`
	Environment map[string]string `json:"environment,omitempty"`
	URL         string            `json:"url,omitempty"`
	Headers     map[string]string `json:"headers,omitempty"`
}

// Connection writes the settings. Nothing is fetched: the client of the model's API is part
// of the program.
func (c Config) Connection(modelURL string) drive.Connection {
	if c.unreachable {
		modelURL = drive.Nowhere
	}
	options := providerOptions{BaseURL: modelURL + "/v1", APIKey: "dummy"}
	if c.shortIdle {
		options.ChunkTimeout = 400
	}
	s := settings{
		Share: "disabled", Model: providerName + "/" + models[0], SmallModel: providerName + "/" + models[0], Enabled: []string{providerName},
		Compaction: map[string]bool{"auto": c.compacts},
		Provider: map[string]provider{providerName: {
			NPM: "@ai-sdk/openai-compatible", Name: "Scripted", Models: map[string]modelOpt{}, Options: options,
		}},
	}
	for _, m := range models {
		s.Provider[providerName].Models[m] = modelOpt{
			Name: m, Reasoning: true, ToolCall: true, Attachment: true, Modalities: map[string][]string{"input": {"text", "image", "pdf"}, "output": {"text"}},
			Limit: map[string]int{"context": 100_000, "output": 8192}, Cost: map[string]float64{"input": 1, "output": 2, "cache_read": 0.1},
		}
	}
	for _, r := range c.rules {
		if r.Action == "ask" {
			if s.Permission == nil {
				s.Permission = map[string]string{}
			}
			s.Permission[r.Permission] = r.Action
		}
	}
	for _, server := range c.Servers {
		if s.MCP == nil {
			s.MCP = map[string]toolServer{}
		}
		if server.Remote.Transport != "" {
			s.MCP[server.Name] = toolServer{Type: "remote", URL: fixtures.ServerURL(server.Name), Headers: server.Remote.Headers}
			continue
		}
		s.MCP[server.Name] = toolServer{Type: "local", Command: []string{fixtures.ServerCommand(server.Name)}, Environment: server.Env}
	}
	b, err := json.Marshal(s, json.Deterministic(true))
	if err != nil {
		panic(err) // only strings, numbers and lists are written
	}
	return drive.Connection{
		Env: []string{
			"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1", "OPENCODE_DISABLE_DEFAULT_PLUGINS=1",
		},
		Home: map[string]string{".config/opencode/opencode.json": string(b)},
	}
}

// modelRef is a model as requests name it.
func modelRef(name string) (provider, id string) {
	provider, id, ok := strings.Cut(name, "/")
	if !ok {
		return providerName, name
	}
	return provider, id
}

// ModelName is a model as the command line names it.
func ModelName(name string) string {
	provider, id := modelRef(name)
	return provider + "/" + id
}
