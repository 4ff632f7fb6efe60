package checks

import (
	"fmt"
	"slices"
	"strings"

	"github.com/turnspec/turnspec/conformance"
)

// The levels, of which each includes the ones before it.
const (
	LevelCore = "core"
	LevelFull = "full"
)

// Levels returns the names of the levels.
func Levels() []string { return []string{LevelCore, LevelFull} }

// core has the ids and topics of the checks of the level core, which every chat adapter must
// pass: the text arrives, turns end, tool cards are right, permissions are enforced, and
// failures and the death of a process end what runs.
var core = []string{
	"session.ready-first", "session.returns",
	"text",
	"turn.one-terminal", "turn.not-before-end", "turn.nothing-after-terminal", "turn.stop", "turn.stop-idempotent", "turn.after-stop",
	"turn.error-is-error", "turn.retry-is-not-error", "turn.crash-ends", "turn.within-budget",
	"tool.known", "tool.paired", "tool.output", "tool.interrupted",
	"permission.asked", "permission.resolved", "permission.answered-once", "permission.deny-enforced", "permission.late", "permission.decline-is-not-cancel",
	"process.start-failure", "process.exit-code", "process.no-orphans",
}

// coreTopics are the topics of the scenarios that show what the checks of the level core judge.
var coreTopics = []string{"text", "turn", "stop", "tool", "permission", "model", "process"}

// OfLevel returns the checks of a level, and the topics of the scenarios on which they are
// judged; nil means all topics.
func OfLevel(level string) (of []*conformance.Check, topics []string, err error) {
	switch level {
	case LevelCore:
		of, err = Named(core...)
		return of, coreTopics, err
	case LevelFull:
		return All(), nil, nil
	}
	return nil, nil, fmt.Errorf("unknown level %q; want one of %v", level, Levels())
}

// LevelOf returns the lowest level that has a check.
func LevelOf(c *conformance.Check) string {
	topic, _, _ := strings.Cut(c.ID, ".")
	if slices.Contains(core, c.ID) || slices.Contains(core, topic) {
		return LevelCore
	}
	return LevelFull
}
