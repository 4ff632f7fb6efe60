package conformance_test

import (
	"testing"

	"github.com/turnspec/turnspec/conformance"
)

func TestMatch(t *testing.T) {
	const id = "codex/0.169.0/permission/deny-then-stop"
	for glob, want := range map[string]bool{
		id: true, "codex": true, "codex/*": true, "codex/": true, "codex/*/permission": true, "permission": true, "permission/*": true,
		"permission/deny-then-stop": true, "deny-then-stop": true, "deny*": true, "*": true, "codex/*/*/deny*": true,
		"claude": false, "claude/*": false, "codex/permission": false, "deny": false, "stop": false, "perm": false, "": false, "[": false,
		id + "/*": false,
	} {
		if got := conformance.Match(glob, id); got != want {
			t.Errorf("Match(%q, %q) = %v, want %v", glob, id, got, want)
		}
	}
}
