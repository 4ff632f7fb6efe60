package codexcli

import (
	"fmt"
	"strings"

	"github.com/turnspec/turnspec/adapters"
)

// CheckServers returns an error for an MCP server that the program cannot use.
func CheckServers(servers []adapters.MCPServer) error {
	for _, s := range servers {
		if s.URL != "" && s.SSE {
			return fmt.Errorf("mcp: server %s: server-sent events: %w", s.Name, adapters.ErrUnsupported)
		}
	}
	return nil
}

// SessionArgs returns the arguments for the effort and the further folders of a session.
// The program writes to these folders in the sandbox that lets it write to the working
// directory; other sandboxes do not tell folders apart.
func SessionArgs(o adapters.Options) (args []string) {
	if o.Effort != "" {
		args = append(args, "-c", "model_reasoning_effort="+tomlString(o.Effort))
	}
	if len(o.ExtraDirs) > 0 {
		var dirs []string
		for _, dir := range o.ExtraDirs {
			dirs = append(dirs, tomlString(dir))
		}
		args = append(args, "-c", "sandbox_workspace_write.writable_roots=["+strings.Join(dirs, ",")+"]")
	}
	return args
}
