package checks_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/turnspec/turnspec/fixtures/racesample"
)

// maxFiles is the number of files that a new check needs: the check, its broken adapter, the
// list of its topic, and a scenario.
const maxFiles = 4

// proofOfToy are the lines of the matrix that TestMatrix would write for the toy.
const proofOfToy = `drops-marks text.marks claude text/unicode-and-markdown
drops-marks text.marks codex text/unicode-and-markdown
`

// TestToyCheck compiles the module with one more check, as CONTRIBUTING describes: the files in
// testdata/toy and a line in each list of the topic. It demands that the check judges and its
// broken adapter fails (testdata/registered), that the tests which demand something of every
// check are content, and that it needs no more files.
func TestToyCheck(t *testing.T) {
	if testing.Short() || racesample.Enabled {
		t.Skip("it compiles the packages that depend on this one again")
	}
	tool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("there is no go command")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	replace := map[string]string{}
	put := func(file, text string) {
		t.Helper()
		with := filepath.Join(dir, strings.ReplaceAll(file, "/", "_"))
		if err := os.WriteFile(with, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		replace[filepath.Join(root, filepath.FromSlash(file))] = with
	}
	toy := os.DirFS("testdata/toy")
	err = fs.WalkDir(toy, ".", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(toy, file)
		put(file, string(text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	registry := readFile(t, "text/text.go")
	for _, line := range [][2]string{{"[]*conformance.Check{\n", "Marks,\n"}, {"[]broken.Adapter{\n", "dropsMarks,\n"}} {
		if !strings.Contains(registry, line[0]) {
			t.Fatalf("text.go has no list that begins with %q", line[0])
		}
		registry = strings.Replace(registry, line[0], line[0]+line[1], 1)
	}
	put("conformance/checks/text/text.go", registry)
	if len(replace) > maxFiles {
		t.Errorf("a check needs %d files, more than %d: %v", len(replace), maxFiles, replace)
	}
	const matrix = "internal/broken/testdata/matrix.txt" // a test writes it, so it does not count
	put("conformance/"+matrix, readFile(t, "../"+matrix)+proofOfToy)

	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	list := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(list, overlay, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), tool, "test", "-vet=off", "-overlay="+list,
		"-run", "^(TestVerdicts|TestNames|TestTable|TestExamplesAreComplete)$",
		"./testdata/registered", "../internal/broken", "../../cmd/docs").CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
