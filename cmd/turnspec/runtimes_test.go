package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/turnspec/turnspec/conformance/backend"
	"github.com/turnspec/turnspec/fixtures/wire"
	"github.com/turnspec/turnspec/fixtures/wire/runtimes"
)

// maxKnobs is how many fields wire.Runtime and wire.Process may have. What one wire shows,
// hides or adds is a statement of its lines, which checks ask of the lines.
const maxKnobs = 30

func TestFewKnobs(t *testing.T) {
	if n := reflect.TypeFor[wire.Runtime]().NumField() + reflect.TypeFor[wire.Process]().NumField(); n > maxKnobs {
		t.Errorf("wire.Runtime and wire.Process have %d fields, at most %d may be: let the line state what differs", n, maxKnobs)
	}
}

// ofVocabulary are folders with words of their own, some of which are also words of a wire, with the
// reasons.
var ofVocabulary = map[string]string{
	"adapters/backend/acpagent":     "an agent of the protocol that a runtime speaks",
	"adapters/backend/agentfile":    "the files of runtimes",
	"adapters/backend/dialect":      "the vocabularies of front ends",
	"adapters/backend/runner":       "the vocabulary of a runner",
	"adapters/internal/codexcli":    "what two adapters share",
	"adapters/internal/opencodecli": "what two adapters share",
	"conformance/plug/acp":          "agents of the protocol that a runtime speaks",
	"conformance/plug/conversation": "the vocabulary of a runner",
	"fakes/model":                   "the APIs of models",
}

// inAny reports whether a folder is one of others, or below one.
func inAny(folder string, others []string) bool {
	return slices.ContainsFunc(others, func(own string) bool { return folder == own || strings.HasPrefix(folder, own+"/") })
}

// ofRuntime reports whether a folder is that of a runtime: its reader, its recorder, or its adapter.
func ofRuntime(folder string) bool {
	var own []string
	for _, rt := range runtimes.Names() {
		own = append(own, "fixtures/wire/"+rt, "recorder/internal/"+rt, "adapters/"+rt)
	}
	return inAny(folder, own)
}

// parsedFile is a file of the module without its tests.
type parsedFile struct {
	name, folder string
	syntax       *ast.File
}

// sourceFiles parses the files of the module.
func sourceFiles(t *testing.T) (fset *token.FileSet, out []parsedFile) {
	t.Helper()
	fset = token.NewFileSet()
	root := os.DirFS("../..")
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && name != "."):
			return fs.SkipDir
		case d.IsDir() || path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		f, err := parser.ParseFile(fset, filepath.Join("../..", filepath.FromSlash(name)), nil, parser.SkipObjectResolution)
		out = append(out, parsedFile{name, path.Dir(name), f})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return fset, out
}

// text returns the value of a string literal; "" for another expression.
func text(e ast.Expr) string {
	lit, ok := e.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return ""
	}
	s, _ := strconv.Unquote(lit.Value)
	return s
}

// branches returns the expressions with which code decides by a string: those of a case, of a
// comparison, of a key in a map, and of a list of strings.
func branches(f *ast.File) (out []ast.Expr) {
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CaseClause:
			out = append(out, n.List...)
		case *ast.BinaryExpr:
			if n.Op == token.EQL || n.Op == token.NEQ {
				out = append(out, n.X, n.Y)
			}
		case *ast.CompositeLit:
			for _, e := range n.Elts {
				if kv, ok := e.(*ast.KeyValueExpr); ok {
					e = kv.Key
				}
				out = append(out, e)
			}
		}
		return true
	})
	return out
}

// otherMeanings are files with such names or words that mean something else, with the reasons.
var otherMeanings = map[string]string{
	"adapters/backend/replay/stats.go":    "tool_calls is a member of the JSON that it writes",
	"adapters/backend/sidecar/history.go": "chat is a member of the JSON that it writes",
	"conformance/lab/drift/known.go":      "the known changes between two versions, as data",
	"conformance/lab/requests/reason.go":  "why the stand-in and a runtime do not agree, as data",
	"fakes/fault/transparent.go":          "noise on stderr, which no reader reads, looks like lines of two runtimes",
	"fixtures/reply.go":                   "a scenario chooses the member in which a model sends reasoning",
	"recorder/compare/noise.go":           "members of all runtimes that hold ids",
	"recorder/redact/names.go":            "words that are no names of people",
}

// offence is a place that knows a runtime.
type offence struct {
	at   token.Pos
	what string
}

// offences returns the places of a file outside of the folders of runtimes that know one: by its name,
// or by a word of its wire. A broken adapter names the runtime whose lines it changes.
func offences(words map[string]bool, f parsedFile) (out []offence) {
	if ofRuntime(f.folder) {
		return nil
	}
	for _, e := range branches(f.syntax) {
		if name := text(e); slices.Contains(runtimes.Names(), name) {
			out = append(out, offence{e.Pos(), "branches on the name of the runtime " + name})
		}
	}
	if inAny(f.folder, slices.Collect(maps.Keys(ofVocabulary))) || strings.HasSuffix(f.name, "_broken.go") {
		return out
	}
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		if e, ok := n.(*ast.BasicLit); ok {
			if word := wireWord(words, text(e)); word != "" {
				out = append(out, offence{e.Pos(), word + " is a word of the wire of a runtime: let its reader state what the line is"})
			}
		}
		return true
	})
	return out
}

// TestNothingBranchesOnARuntime checks that only the folders of a runtime know its name and the words
// of its wire.
func TestNothingBranchesOnARuntime(t *testing.T) {
	fset, files := sourceFiles(t)
	words := wireWords(files)
	if len(words) < 100 {
		t.Fatalf("the readers of the runtimes branch on %d words only", len(words))
	}
	used := map[string]bool{}
	for _, f := range files {
		for _, o := range offences(words, f) {
			used[f.name] = true
			if otherMeanings[f.name] == "" {
				t.Errorf("%s: %s", fset.Position(o.at), o.what)
			}
		}
	}
	for name := range otherMeanings {
		if !used[name] {
			t.Errorf("%s needs no exception", name)
		}
	}
}

// TestBranchesOnARuntimeAreFound checks the test above with code that branches, and code that does not.
func TestBranchesOnARuntimeAreFound(t *testing.T) {
	_, files := sourceFiles(t)
	words := wireWords(files)
	for code, want := range map[string]int{
		`func f(name string) bool { return name == "codex" }`:                              1,
		`func f(name string) { switch name { case "claude", "pi": } }`:                     2,
		`var on = []string{"claude"}`:                                                      1,
		`var is = map[string]bool{"opencode": true}`:                                       1,
		`func f(method string) bool { return method != "item/tool/call" }`:                 1,
		`var line = ` + "`" + `{"type":"control_response"}` + "`":                          1,
		`var x = f("hook_callback")`:                                                       1,
		`var adapter = T{Runtime: "codex", Why: "Claude Code does not name its turns"}`:    0,
		`var flag = f("runtime", "codex")`:                                                 0,
		`func f(name string) bool { return name == "turn_start" || name == "tool_start" }`: 0,
	} {
		syntax, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x\n"+code, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if got := offences(words, parsedFile{"conformance/x.go", "conformance", syntax}); len(got) != want {
			t.Errorf("%s: %d offences, want %d: %v", code, len(got), want, got)
		}
	}
}

// joinedWord matches a method or a tag of several words. Others are too common to be found.
var joinedWord = regexp.MustCompile(`^[A-Za-z]+(?:[/_.][A-Za-z]+)+$`)

// contractWord matches the words in the tags and names of the contract.
var contractWord = regexp.MustCompile(`[A-Za-z_]+`)

// wireWords returns the methods and tags on which the readers of the runtimes branch, without those
// that the contract or a check has too.
func wireWords(files []parsedFile) map[string]bool {
	out := map[string]bool{}
	for _, f := range files {
		if !strings.HasPrefix(f.folder, "fixtures/wire/") || !ofRuntime(f.folder) {
			continue
		}
		for _, e := range branches(f.syntax) {
			if word := text(e); joinedWord.MatchString(word) {
				out[word] = true
			}
		}
	}
	for _, c := range backend.Checks() {
		delete(out, c.ID)
	}
	for _, f := range files {
		if f.folder == "adapters/event" || f.folder == "adapters/op" || f.folder == "adapters" {
			ast.Inspect(f.syntax, func(n ast.Node) bool {
				if e, ok := n.(*ast.BasicLit); ok {
					for _, word := range contractWord.FindAllString(text(e), -1) {
						delete(out, word)
					}
				}
				return true
			})
		}
	}
	return out
}

// wireWord returns the word of a wire that a literal is, begins with, or holds in quotes.
func wireWord(words map[string]bool, literal string) string {
	for word := range words {
		if literal == word || strings.HasPrefix(literal, word+"/") || strings.Contains(literal, `"`+word+`"`) {
			return word
		}
	}
	return ""
}
