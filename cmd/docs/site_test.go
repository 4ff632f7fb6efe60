package main

import (
	"context"
	"encoding/xml"
	"errors"
	"io"
	"maps"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/backend"
	"github.com/turnspec/turnspec/conformance/lab/defects"
	"github.com/turnspec/turnspec/conformance/lab/facts"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/racesample"
)

// built returns the site, with the example failure of text.once alone.
func built(t *testing.T) *site {
	t.Helper()
	if racesample.Enabled {
		t.Skip("it writes some hundred pages in one goroutine; it is run without the race detector")
	}
	one := func(ctx context.Context, checks []*conformance.Check) (map[string]example, error) {
		return examplesOf(ctx, slices.DeleteFunc(slices.Clone(checks), func(c *conformance.Check) bool { return c.ID != "text.once" }))
	}
	s, err := build(t.Context(), os.DirFS("../.."), one)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestGeneratedPages checks what is on the pages that have no file in the repository.
func TestGeneratedPages(t *testing.T) {
	s := newSite(os.DirFS("../.."))
	pages, err := s.generated(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_, newest, _ := fixtures.SplitCaseID(fixtures.Embedded().Resolve("codex/newest"))
	want := map[string][]string{
		"conformance/FACTS.md":             {"| `delta.text` | yes | `text.once`"},
		"conformance/BUGS.md":              {"| text is shown twice | ex_mcp#14, parsar#308 | `shows-the-result-too` | `text.once` |"},
		"conformance/lab/drift/KNOWN.md":   {"| codex | 0.120.0 | " + newest + " | `thread/revert` is new | schema: added `request thread/revert` |"},
		"conformance/MUTANTS.md":           {"killed of reached |\n|---|---:|", "## Performance", "| claude/fast.go | `line.decodeFast` | logical |"},
		"conformance/PEERS.md":             {"| @agentclientprotocol/codex-acp |", "## Bridges to front ends", "behind useChat"},
		"conformance/lab/bench/RESULTS.md": {"## codex", "| `lost<=0` |", "<details>", "## The suite and the program"},
	}
	for _, f := range facts.All(backend.Checks()) {
		want["conformance/FACTS.md"] = append(want["conformance/FACTS.md"], "\n| `"+f.Name+"` |")
	}
	for _, b := range defects.Bugs() {
		want["conformance/BUGS.md"] = append(want["conformance/BUGS.md"], "`"+b.Defect+"`")
	}
	for name, page := range pages {
		if want[name] == nil {
			t.Errorf("%s: no test says what it contains", name)
		}
		if _, err := os.Stat(filepath.Join("..", "..", name)); err == nil {
			t.Errorf("%s is a file of the repository too", name)
		}
		for _, part := range want[name] {
			if !strings.Contains(string(page), part) {
				t.Errorf("%s lacks %q", name, part)
			}
		}
		if strings.Contains(string(page), "|  |\n") && name == "conformance/lab/drift/KNOWN.md" {
			t.Errorf("%s: a known change has no finding", name)
		}
		delete(want, name)
	}
	for name := range want {
		t.Errorf("there is no page %s", name)
	}
}

// parsedPage is what a test reads of a page.
type parsedPage struct {
	ids   []string
	links []string
}

// parse demands that a page is well-formed: each element is closed in order, each id
// is unique, and no link is inside another.
func parse(t *testing.T, name string, text []byte) (p parsedPage) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(string(text)))
	d.Entity = xml.HTMLEntity
	inLink := false
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return p
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			return p
		}
		switch e := token.(type) {
		case xml.StartElement:
			if e.Name.Local == "a" {
				if inLink {
					t.Errorf("%s: a link inside a link", name)
				}
				inLink = true
			}
			for _, a := range e.Attr {
				switch a.Name.Local {
				case "id":
					if slices.Contains(p.ids, a.Value) {
						t.Errorf("%s: the id %q is not unique", name, a.Value)
					}
					p.ids = append(p.ids, a.Value)
				case "href", "src":
					p.links = append(p.links, a.Value)
				}
			}
		case xml.EndElement:
			inLink = inLink && e.Name.Local != "a"
		}
	}
}

// TestSite checks the form of all pages and where their links lead.
func TestSite(t *testing.T) {
	s := built(t)
	checkCheckPage(t, s)
	pages := map[string]parsedPage{}
	for name, text := range s.files {
		if path.Ext(name) == ".html" {
			pages[name] = parse(t, name, text)
		}
	}
	reached := map[string]bool{"index.html": true}
	for _, name := range slices.Sorted(maps.Keys(pages)) {
		for _, link := range pages[name].links {
			to, err := url.Parse(link)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if to.IsAbs() {
				if file, ok := strings.CutPrefix(link, source); ok {
					if _, err := os.Stat(path.Join("../..", file)); err != nil {
						t.Errorf("%s: %v", name, err)
					}
				}
				continue
			}
			file := name
			if to.Path != "" {
				file = path.Join(path.Dir(name), to.Path)
			}
			if s.files[file] == nil {
				t.Errorf("%s links to %s, which does not exist", name, link)
				continue
			}
			if to.Fragment != "" && !slices.Contains(pages[file].ids, to.Fragment) {
				t.Errorf("%s links to %s, which has no such heading", name, link)
			}
			reached[file] = true
		}
	}
	for name := range pages {
		if !reached[name] {
			t.Errorf("no page links to %s", name)
		}
	}
	for name, text := range s.files {
		if strings.Contains(string(text), "<script") || strings.Contains(string(text), "@import") || strings.Contains(string(text), "url(") {
			t.Errorf("%s loads something", name)
		}
	}
}

// checkCheckPage checks the parts of one page.
func checkCheckPage(t *testing.T, s *site) {
	t.Helper()
	page := string(s.files["checks/text.once.html"])
	for _, want := range []string{
		"exactly once", "How to mend it", "Take the text from one place", "ex_mcp#14", "text is shown twice",
		"An example failure", "the text is not what the model said", "shows-the-result-too", "delta.text",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not contain %q", want)
		}
	}
}

// A folder is replaced only if it holds a site.
func TestWrite(t *testing.T) {
	s := &site{files: map[string][]byte{"index.html": nil, "style.css": nil, "checks/x.html": nil}}
	dir := filepath.Join(t.TempDir(), "docs")
	for range 2 {
		if err := s.write(dir); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "checks", "x.html")); err != nil {
		t.Error(err)
	}
	other := t.TempDir()
	if err := os.WriteFile(filepath.Join(other, "notes"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := s.write(other); err == nil || !strings.Contains(err.Error(), "other files than a site") {
		t.Errorf("a folder with other files: %v", err)
	}
}

// TestExamplesAreComplete demands an example failure of each check that judges without a
// runtime. `go run ./cmd/docs` checks that they still fail.
func TestExamplesAreComplete(t *testing.T) {
	for _, c := range everyCheck() {
		_, have, err := chooseFailure(c)
		if err != nil {
			t.Fatal(err)
		}
		if !have && withoutExample[c.ID] == "" {
			t.Errorf("%s has no example failure: no broken adapter fails it", c.ID)
		}
		if have && withoutExample[c.ID] != "" {
			t.Errorf("%s has an example failure; remove it from withoutExample", c.ID)
		}
	}
}

// withoutExample lists checks without an example failure, with the reason.
var withoutExample = map[string]string{
	"golden.events":  "it judges the reference adapters only: a failure is a difference of a stored file",
	"golden.chat":    "as golden.events",
	"golden.wrote":   "as golden.events",
	"live.performed": "it needs the real runtime",
	"server.resume":  "only a server can fail it",
	"server.cursor":  "as server.resume",
	"server.once":    "as server.resume",
	"server.guard":   "as server.resume",

	"server.heartbeat":         "as server.resume",
	"server.media":             "as server.resume",
	"server.no-content":        "as server.resume",
	"server.without-listeners": "as server.resume",

	"dialect.form":  "only a stream in another vocabulary can fail it",
	"dialect.order": "as dialect.form",
	"dialect.ids":   "as dialect.form",
	"dialect.once":  "as dialect.form",
	"dialect.open":  "as dialect.form",

	"dialect.advice": "as dialect.form",

	"process.sigterm":  "only a program can fail it",
	"process.sigint":   "as process.sigterm",
	"process.sighup":   "as process.sigterm",
	"turn.retries-end": "only the wire of OpenCode 1.15.13 announces attempts without an end; conformance/internal/broken has the adapter",
}
