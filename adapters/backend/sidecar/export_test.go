package sidecar

import (
	"maps"
	"slices"
)

// Routes returns the patterns of all routes.
func (s *Server) Routes() []string { return slices.Sorted(maps.Keys(s.handlers())) }
