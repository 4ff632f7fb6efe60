package conversation

import (
	"maps"
	"slices"
)

// MessageTypes returns the types of messages that are known.
func MessageTypes() []string { return slices.Sorted(maps.Keys(handlers)) }
