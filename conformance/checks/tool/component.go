package tool

import (
	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/fixtures"
)

// ofComponents reports whether the agent shows components with a client's tool. The
// subject provides such a tool, the scenario provides the others.
func ofComponents(s *fixtures.Scenario, tool string) bool {
	return s.Components != nil && adapters.IsComponentTool(tool)
}
