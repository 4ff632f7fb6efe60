package page_test

import (
	"os"
	"testing"

	"github.com/turnspec/turnspec/adapters/backend/page"
)

// TestNoAccessibilityProblems runs axe-core on the page in both color schemes, and on a
// narrow screen. The levels of headings are left out: the model chooses them.
func TestNoAccessibilityProblems(t *testing.T) {
	file := os.Getenv("TURNSPEC_AXE")
	if file == "" {
		t.Skip("TURNSPEC_AXE does not name the script of axe-core: `make test-page` installs it and runs this test")
	}
	axe, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	x := startBrowser(t).newTab()
	x.must("Page.setBypassCSP", map[string]any{"enabled": true}, nil)
	openRecording(t, x, page.Record("Gallery", gallery("")))
	eval[bool](x, string(axe)+"; true")
	eval[bool](x, `(document.querySelectorAll("details").forEach((d) => { d.open = true; }), true)`)
	for _, look := range []struct {
		scheme        string
		width, height int
	}{{"light", 1000, 40000}, {"dark", 1000, 40000}, {"light", 380, 40000}} {
		x.look(look.width, look.height, look.scheme)
		for _, problem := range eval[[]string](x, `axe.run(document).then((r) => r.violations.filter((v) => v.id !== "heading-order").flatMap((v) => v.nodes.map((n) => v.impact + " " + v.id + ": " + v.help + ": " + n.html.slice(0, 200) + " " + (n.any[0]?.message ?? ""))))`) {
			t.Errorf("%s, %d wide: %s", look.scheme, look.width, problem)
		}
	}
}
