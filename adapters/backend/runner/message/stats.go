package message

import "github.com/turnspec/turnspec/adapters/event"

// start counts a call of a tool.
func (s *Stats) start(d event.ToolStart) {
	s.ToolCalls++
	if s.ToolsByType == nil {
		s.ToolsByType = map[string]int{}
	}
	s.ToolsByType[d.Tool]++
	if d.SubagentSpawn {
		s.SubAgents++
	}
	switch d.Tool {
	case "Read", "Glob", "Grep":
		s.FilesRead++
	case "Write", "Edit", "MultiEdit", "NotebookEdit":
		s.FilesWritten++
	case "Bash":
		s.BashCommands++
	case "WebSearch", "WebFetch":
		s.WebSearches++
	}
}
