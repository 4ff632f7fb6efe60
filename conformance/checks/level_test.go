package checks_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/turnspec/turnspec/conformance/checks"
)

// TestLevels checks that each level has checks that exist, each once, and that a level
// includes the one before it.
func TestLevels(t *testing.T) {
	all := checks.All()
	before := 0
	for _, level := range checks.Levels() {
		of, topics, err := checks.OfLevel(level)
		if err != nil {
			t.Fatal(err)
		}
		if len(of) <= before {
			t.Errorf("%s has %d checks, the level before it %d", level, len(of), before)
		}
		before = len(of)
		for i, c := range of {
			if !slices.Contains(all, c) || slices.Contains(of[:i], c) {
				t.Errorf("%s: %s is unknown or twice", level, c.ID)
			}
			if want := slices.Index(checks.Levels(), level); slices.Index(checks.Levels(), checks.LevelOf(c)) > want {
				t.Errorf("%s is of level %s, and in %s", c.ID, checks.LevelOf(c), level)
			}
		}
		for _, topic := range topics {
			if _, err := os.Stat(filepath.Join("../../fixtures/scenarios", topic)); err != nil {
				t.Errorf("%s: no scenario has the topic %s", level, topic)
			}
		}
	}
	if before != len(all) {
		t.Errorf("the last level has %d of %d checks", before, len(all))
	}
	if _, _, err := checks.OfLevel("half"); err == nil {
		t.Error("the level half exists")
	}
}
