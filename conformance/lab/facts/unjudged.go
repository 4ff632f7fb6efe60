package facts

import (
	"maps"
	"slices"
)

// unjudged gives the reason why no check judges a fact that the reference emits.
var unjudged = map[string]string{
	"tool_result.media":  "it is optional, and its members are facts",
	"result.stats":       "it is optional, and its figures are facts",
	"session_end.reason": "its words are free, except that closed is the client's",
	"task.usage":         "it is optional, and its figures are facts",
	"usage.context":      "it is optional, and its figures are facts",
}

// Unjudged returns the facts that no check judges for a stated reason, sorted.
func Unjudged() []string { return slices.Sorted(maps.Keys(unjudged)) }
