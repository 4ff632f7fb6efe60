package runner

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/turnspec/turnspec/adapters"
)

// MergeServers joins lists of MCP servers. A server of a later list replaces one of an
// earlier list with its name.
func MergeServers(all ...[]adapters.MCPServer) []adapters.MCPServer {
	byName := map[string]adapters.MCPServer{}
	for _, servers := range all {
		for _, s := range servers {
			byName[s.Name] = s
		}
	}
	var out []adapters.MCPServer
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		out = append(out, byName[name])
	}
	return out
}

// ReadServers reads MCP servers from a file in the form of .mcp.json: an object mcpServers
// with each server's command, args and env, by its name. A file that does not exist holds
// none.
func ReadServers(name string) ([]adapters.MCPServer, error) {
	b, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var file struct {
		Servers map[string]struct {
			Type    string            `json:"type"`
			Command string            `json:"command"`
			Args    []string          `json:"args"`
			Env     map[string]string `json:"env"`
		} `json:"mcpServers"`
	}
	if err := json.Unmarshal(b, &file); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	var out []adapters.MCPServer
	for _, server := range slices.Sorted(maps.Keys(file.Servers)) {
		s := file.Servers[server]
		if s.Type != "" && s.Type != "stdio" || s.Command == "" {
			return nil, fmt.Errorf("%s: server %s: type %q: %w: only servers with a command are", name, server, s.Type, adapters.ErrUnsupported)
		}
		out = append(out, adapters.MCPServer{Name: server, Command: s.Command, Args: s.Args, Env: s.Env})
	}
	return out, nil
}
