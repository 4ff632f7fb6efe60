package suite_test

import (
	"io/fs"
	"path"
	"slices"
	"testing"

	"github.com/turnspec/turnspec/adapters/claude"
	"github.com/turnspec/turnspec/adapters/codex"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/checks"
	"github.com/turnspec/turnspec/conformance/suite"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/racesample"
)

// TestReferenceAdapters: there are no known failures in the reference adapters.
func TestReferenceAdapters(t *testing.T) {
	suite.Run(t, conformance.Config{
		Cases:    sample(t),
		Corpus:   corpus(t),
		Subjects: []conformance.Subject{conformance.Adapter("codex", codex.New()), conformance.Adapter("claude", claude.New())},
		Checks:   checks.All(),
		Golden:   true,
		Places:   1,
	})
}

// corpus has all cases of the newest versions, and every third of the older ones:
// `turnspec run`, which CI does too, plays all. It looks like a whole corpus, so
// that a check which judges nothing in it fails the suite.
func corpus(t *testing.T) fixtures.Corpus {
	t.Helper()
	c := fixtures.Embedded()
	ids, err := c.CaseIDs()
	if err != nil {
		t.Fatal(err)
	}
	newest, out, older := fixtures.Newest(ids), map[string]bool{}, 0
	for _, id := range ids {
		if _, found := slices.BinarySearch(newest, id); !found {
			older++
			out[id+".txtar"] = older%3 != 0
		}
	}
	c.FS = without{c.FS, out}
	return c
}

// without is a file system without some files.
type without struct {
	fs.FS
	out map[string]bool
}

// ReadDir implements fs.ReadDirFS.
func (w without) ReadDir(dir string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(w.FS, dir)
	return slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return w.out[path.Join(dir, e.Name())] }), err
}

// sample: with the race detector, which makes plays ten times slower, some of the
// newest cases, to look for races; else all.
func sample(t *testing.T) []string {
	t.Helper()
	if !racesample.Enabled {
		return nil
	}
	all, err := fixtures.Embedded().CaseIDs()
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for i, id := range fixtures.Newest(all) {
		if rt, _, _ := fixtures.SplitCaseID(id); i%10 == 0 && rt != "codexexec" {
			out = append(out, id)
		}
	}
	return out
}
