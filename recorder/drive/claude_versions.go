package drive

import "github.com/turnspec/turnspec/fixtures"

// claudeVersion is how a version of Claude Code differs from others, for its
// client.
type claudeVersion struct {
	// lifecycles: the runtime tells what becomes of each message that has a
	// uuid (command_lifecycle), and whether the session is idle
	// (session_state_changed). See claude_silent.go for those that do not.
	lifecycles bool
	flags      []string // optional outputs that not every version has
}

// claudeOf is how a version is. One that nobody has looked at yet is expected to
// be like the last one before it; no version means the newest.
func claudeOf(version string) claudeVersion {
	if version != "" && fixtures.CompareVersions(version, "2.1.329") < 0 {
		return claudeVersion{} // it ends at once with an option that it does not know
	}
	return claudeVersion{lifecycles: true, flags: []string{"--forward-subagent-text"}}
}
