package agentfile_test

import (
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/turnspec/turnspec/adapters/backend/agentfile"
	"github.com/turnspec/turnspec/fixtures"
)

// TestDefinitionsOfCorpus: the corpus has a workspace with definitions that the real
// runtimes accepted. Parse accepts them too, and Prepare copies them byte by byte.
func TestDefinitionsOfCorpus(t *testing.T) {
	scn, err := fixtures.Embedded().LoadScenario("subagent/defined-in-a-file")
	if err != nil {
		t.Fatal(err)
	}
	for f, name := range map[agentfile.Form]string{agentfile.Claude: "bird-clerk.md", agentfile.Codex: "bird-clerk.toml"} {
		file := f.Dir() + "/" + name
		text := scn.Workspace[file]
		if len(text) == 0 {
			t.Fatal("the scenario has no", file)
		}
		dir := t.TempDir()
		done, err := agentfile.Prepare(f, dir, fstest.MapFS{name: {Data: text}}, ".")
		if err != nil || len(done) != 1 || done[0].Name != "bird-clerk" || done[0].File != file {
			t.Error(done, err)
		}
		if got, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(file))); err != nil || string(got) != string(text) {
			t.Errorf("%s: %q, %v", file, got, err)
		}
		if all, err := agentfile.Read(f, dir); err != nil || len(all) != 1 || all[0].Instructions != "Count what is on the list." {
			t.Error(all, err)
		}
	}
}
