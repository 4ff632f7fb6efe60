package model

import (
	"maps"
	"slices"
)

// Unused returns the lines of the scenario's file with replies that were never used, in
// order.
func (s *Server) Unused() []int {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []int
	for _, name := range slices.Sorted(maps.Keys(s.script.agents)) {
		for _, l := range s.script.agents[name].lines {
			if !l.used {
				out = append(out, l.Line)
			}
		}
	}
	slices.Sort(out)
	return out
}
