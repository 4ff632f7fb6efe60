package replay

import (
	"cmp"
	"iter"
	"slices"
	"time"
)

// Stats are counts of the blocks of a turn and its sub-agents. The counts of a
// running turn grow.
type Stats struct {
	ToolCalls    int            `json:"tool_calls"`
	ByTool       map[string]int `json:"tools_by_type,omitempty"`
	Failed       int            `json:"failed,omitzero"` // of the tool calls
	Denied       int            `json:"denied,omitzero"`
	Interrupted  int            `json:"interrupted,omitzero"`
	Subagents    int            `json:"sub_agents,omitzero"`
	FileReads    int            `json:"files_read,omitzero"`    // calls that read or search
	FileWrites   int            `json:"files_written,omitzero"` // calls that change files
	Commands     int            `json:"bash_commands,omitzero"`
	WebSearches  int            `json:"web_searches,omitzero"` // and fetches
	Read         []string       `json:"read,omitempty"`        // files, each once, in order
	Changed      []string       `json:"changed,omitempty"`
	Added        int            `json:"lines_added,omitzero"`
	Removed      int            `json:"lines_removed,omitzero"`
	Permissions  int            `json:"permissions,omitzero"` // requested
	Questions    int            `json:"questions,omitzero"`
	Errors       int            `json:"errors,omitzero"`
	ToolMS       int64          `json:"total_tool_duration_ms,omitzero"` // sum over the calls, also if they ran concurrently
	SubagentsTok int64          `json:"sub_agent_tokens,omitzero"`       // total, as the runtime reported it
	Figures      *Figures       `json:"figures,omitzero"`                // nil while the turn runs
}

// Stats counts the blocks of a turn.
func (c *Chat) Stats(turn int) Stats {
	return statsOf(turn, func(yield func(*Message) bool) {
		for i := range c.Messages {
			if !yield(&c.Messages[i]) {
				return
			}
		}
	})
}

// Stats counts the blocks of a turn. It reads the messages since the turn began, not
// older ones.
func (v *View) Stats(turn int) Stats {
	var of []*Message
	for m := range v.Backward() {
		if m.Turn > 0 && m.Turn < turn && (len(of) > 0 || m.Role == RoleUser) {
			break // but go past a later message of an older turn
		}
		of = append(of, m)
	}
	slices.Reverse(of)
	return statsOf(turn, slices.Values(of))
}

func statsOf(turn int, messages iter.Seq[*Message]) Stats {
	var s Stats
	for m := range messages {
		if m.Turn != turn || m.Role != RoleAssistant {
			continue
		}
		walkBlocks(m.Blocks, s.countBlock)
		if m.Figures != nil {
			s.Figures = m.Figures
		}
	}
	return s
}

func (s *Stats) countBlock(b *Block) {
	switch b.Kind {
	case KindTool:
		s.countTool(b)
	case KindSubagent:
		s.Subagents++
		if u := b.Subagent.Usage; u != nil {
			s.SubagentsTok += max(u.Total, u.Input+u.Output)
		}
	case KindPermission:
		s.Permissions++
	case KindInterrupt:
		s.Questions++
	case KindError:
		s.Errors++
	}
}

func (s *Stats) countTool(b *Block) {
	t := b.Tool
	s.ToolCalls++
	if s.ByTool == nil {
		s.ByTool = map[string]int{}
	}
	s.ByTool[t.Name]++
	switch b.Status {
	case Failed:
		s.Failed++
	case Denied:
		s.Denied++
	case Interrupted:
		s.Interrupted++
	}
	if !b.Start.IsZero() && b.End.After(b.Start) {
		s.ToolMS += int64(b.End.Sub(b.Start) / time.Millisecond)
	}
	switch t.Category() {
	case CategoryFile:
		s.FileReads++
		s.Read = appendUnique(s.Read, t.FilePath)
	case CategoryCode:
		s.FileWrites++
	case CategoryWeb:
		s.WebSearches++
	}
	if t.Name == "Bash" {
		s.Commands++
	}
	if b.Status != OK {
		return // the files were not changed
	}
	added, removed := countChanges(t.Changes)
	s.Added, s.Removed = s.Added+added, s.Removed+removed
	for _, c := range t.Changes {
		s.Changed = appendUnique(s.Changed, c.Path)
	}
	if len(t.Changes) == 0 && t.Category() == CategoryCode {
		s.Changed = appendUnique(s.Changed, cmp.Or(t.FilePath, t.parseArgs().Notebook))
	}
}

func appendUnique(list []string, s string) []string {
	if s == "" || slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}
