package codexcli

import (
	"fmt"
	"strings"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/internal/session"
)

// CheckOptions returns an error for an option of the session that the program does not have.
func CheckOptions(o adapters.Options) error {
	if err := session.RefuseOptions(o, "max cost", "max requests", "setting sources", "stream tool input"); err != nil {
		return err
	}
	for _, s := range o.MCP {
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
