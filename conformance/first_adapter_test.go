package conformance_test

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var updatePage = flag.Bool("update-page", false, "write the programs into ADAPTERS.md")

// TestFirstAdapterPage checks that the page shows the example programs as they are.
func TestFirstAdapterPage(t *testing.T) {
	const page = "ADAPTERS.md"
	b, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)<!-- file: (\\S+) -->\n```(\\w+)\n.*?\n?```\n")
	shown := 0
	want := block.ReplaceAllStringFunc(string(b), func(m string) string {
		shown++
		part := block.FindStringSubmatch(m)
		program, err := os.ReadFile(filepath.FromSlash(part[1]))
		if err != nil {
			t.Fatal(err)
		}
		return "<!-- file: " + part[1] + " -->\n```" + part[2] + "\n" + strings.TrimRight(string(program), "\n") + "\n```\n"
	})
	if shown != 5 {
		t.Errorf("the page has %d programs, want 5", shown)
	}
	if want == string(b) {
		return
	}
	if !*updatePage {
		t.Fatalf("%s does not show the current programs; `go test ./conformance -run TestFirstAdapterPage -update-page` writes it", page)
	}
	if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}
