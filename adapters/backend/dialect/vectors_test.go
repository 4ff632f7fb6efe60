package dialect_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/turnspec/turnspec/adapters/backend/dialect"
	"github.com/turnspec/turnspec/adapters/backend/dialect/internal/agui"
	"github.com/turnspec/turnspec/adapters/backend/dialect/internal/uistream"
)

// vector is a stream of testdata/vectors, whose comments say what its head means.
type vector struct {
	name                      string // RULE/NAME
	why, source, want, client string
	lines                     []string
}

func vectorsOf(t *testing.T, file string) (out []vector) {
	t.Helper()
	archive, err := txtar.ParseFile(filepath.Join("testdata", "vectors", file))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range archive.Files {
		head, lines, _ := strings.Cut(string(f.Data), "\n\n")
		v := vector{name: f.Name, lines: strings.FieldsFunc(lines, func(r rune) bool { return r == '\n' })}
		for line := range strings.Lines(strings.TrimSpace(head)) {
			key, value, _ := strings.Cut(line, ":")
			member := map[string]*string{"why": &v.why, "source": &v.source, "want": &v.want, "client": &v.client}[key]
			if member == nil {
				t.Fatalf("%s: %s: what is %q?", file, f.Name, key)
			}
			*member = strings.TrimSpace(value)
		}
		if v.why == "" || v.source == "" {
			t.Errorf("%s: %s: why and source say what the stream shows", file, f.Name)
		}
		out = append(out, v)
	}
	return out
}

// vectorFiles has the checker of the streams of each file, its rules, and the library that reads such streams.
var vectorFiles = map[string]struct {
	newChecker func() checker
	rules      []string
	library    string
}{
	"agui.txtar":     {func() checker { return new(agui.Checker) }, agui.Rules(), "verdict of @ag-ui/client"},
	"uistream.txtar": {func() checker { return new(uistream.Checker) }, uistream.Rules(), "verdict of ai 7"},
}

// TestVectors gives each stream to the checker. Each rule has a stream that it allows, and one that breaks it.
func TestVectors(t *testing.T) {
	for file, of := range vectorFiles {
		allowed, broken := map[string]bool{}, map[string]bool{}
		for _, v := range vectorsOf(t, file) {
			rule, _, _ := strings.Cut(v.name, "/")
			t.Run(strings.TrimSuffix(file, ".txtar")+"/"+v.name, func(t *testing.T) {
				got, text := verdictOf(of.newChecker(), v.lines)
				if got != v.want {
					t.Errorf("got the problems %q, want %q: %s\n%s", got, v.want, v.why, text)
				}
			})
			rules := strings.Fields(strings.ReplaceAll(v.want, "+", ""))
			broken[rule] = broken[rule] || slices.Contains(rules, rule)
			allowed[rule] = allowed[rule] || len(rules) == 0
		}
		for _, rule := range of.rules {
			if !allowed[rule] || !broken[rule] {
				t.Errorf("%s: the rule %s needs a stream that it allows (%t) and one that breaks it (%t)", file, rule, allowed[rule], broken[rule])
			}
			delete(allowed, rule)
		}
		for rule := range allowed {
			t.Errorf("%s: there is no rule %s", file, rule)
		}
	}
}

// verdictOf returns the rules that a stream breaks, in order, with + before advice, and what the checker says.
func verdictOf(c checker, lines []string) (rules, text string) {
	var got []string
	var says strings.Builder
	add := func(problems []dialect.Problem) {
		for _, p := range problems {
			got = append(got, map[bool]string{true: "+"}[p.Advice]+p.Rule)
			says.WriteString(p.String() + "\n")
		}
	}
	for _, line := range lines {
		add(c.Add([]byte(line)))
	}
	add(c.End())
	return strings.Join(got, " "), says.String()
}
