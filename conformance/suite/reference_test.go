package suite_test

import (
	"io/fs"
	"path"
	"slices"
	"testing"

	"github.com/turnspec/turnspec/adapters/reference"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/checks"
	"github.com/turnspec/turnspec/conformance/suite"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/racesample"
)

// TestReferenceAdapters checks that the reference adapters pass without known
// failures.
func TestReferenceAdapters(t *testing.T) {
	suite.Run(t, conformance.Config{
		Cases:      sample(t),
		Corpus:     corpus(t),
		Subjects:   subjects(),
		Checks:     checks.All(),
		Golden:     true,
		EveryCheck: true,
		InProcess:  true, // the race detector reports races of this process only
	})
}

func subjects() (out []conformance.Subject) {
	for _, a := range reference.All() {
		out = append(out, conformance.Adapter(a.Capabilities().Runtime, a))
	}
	return out
}

// corpus returns all cases of the newest versions and every third one of the older
// versions. CI replays all of them with `turnspec run`. The result is a complete
// corpus to the suite, so a check without a verdict in it fails the suite.
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

// sample returns some of the newest cases if the race detector is on, because it makes
// replays ten times slower, and nil (all cases) otherwise.
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
		if rt, _, _ := fixtures.SplitCaseID(id); i%20 == 0 && rt != "codexexec" {
			out = append(out, id)
		}
	}
	return out
}
