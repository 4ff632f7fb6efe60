package tool

import (
	"github.com/turnspec/turnspec/adapters/component"
	"github.com/turnspec/turnspec/fixtures"
)

// ofComponents reports whether a client's tool is one by which the agent shows
// components: then it is the subject's, not the scenario's.
func ofComponents(s *fixtures.Scenario, tool string) bool {
	return s.Components != nil && component.IsTool(tool)
}
