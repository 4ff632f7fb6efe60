package opencodecli

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/proc"
)

// Program returns opencode as OPENCODE_PATH names it, or as found on the PATH of the child.
func Program(env []string) string {
	return cmp.Or(proc.Getenv(env, "OPENCODE_PATH"), proc.LookPath(env, "opencode"))
}

// configEnv is the variable with settings that the runtime adds to its own.
const configEnv = "OPENCODE_CONFIG_CONTENT"

// toolServer is an MCP server in the runtime's settings.
type toolServer struct {
	Type        string            `json:"type"`
	Command     []string          `json:"command,omitempty"`
	Environment map[string]string `json:"environment,omitempty"`
	URL         string            `json:"url,omitempty"` // the runtime tries both ways of HTTP
	Headers     map[string]string `json:"headers,omitempty"`
}

// Environment returns the child's environment, with what is added to its settings: the MCP
// servers, and the permissions.
func Environment(o adapters.Options, permissions map[string]string) ([]string, error) {
	settings := map[string]any{}
	servers := map[string]toolServer{}
	for _, m := range o.MCP {
		if m.URL != "" {
			servers[m.Name] = toolServer{Type: "remote", URL: m.URL, Headers: m.Headers}
			continue
		}
		servers[m.Name] = toolServer{Type: "local", Command: append([]string{m.Command}, m.Args...), Environment: m.Env}
	}
	if len(servers) > 0 {
		settings["mcp"] = servers
	}
	if len(permissions) > 0 {
		settings["permission"] = permissions
	}
	if len(settings) == 0 {
		return o.Env, nil
	}
	env := proc.Environ(o.Env)
	if proc.Getenv(env, configEnv) != "" {
		return nil, fmt.Errorf("options: mcp, a mode that asks and a judge need %s, which the environment holds already", configEnv)
	}
	b, err := json.Marshal(settings, json.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("mcp: %w", err)
	}
	return append(slices.Clip(env), configEnv+"="+string(b)), nil
}
