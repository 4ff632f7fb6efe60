package main

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/onsi/gomega"
)

// TestRewrittenCodeBuilds: code of any folder may import what rewriting adds to it.
func TestRewrittenCodeBuilds(t *testing.T) {
	g := gomega.NewWithT(t)
	dir := t.TempDir()
	file, err := filepath.Abs("../../../adapters/event/doc.go")
	g.Expect(err).NotTo(gomega.HaveOccurred())
	src, err := os.ReadFile(file)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	rewritten := filepath.Join(dir, "doc.go")
	g.Expect(os.WriteFile(rewritten, append(src, "\nimport _ \""+switchPackage+"\"\n"...), 0o600)).To(gomega.Succeed())
	overlay, err := writeOverlay(dir, map[string]string{file: rewritten})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(goBuild(overlay, filepath.Join(dir, "event.a"), "build", "../../../adapters/event")).To(gomega.Succeed())
}

// rewriteText returns a function of a file with all mutants in it, on one line, and
// the mutants.
func rewriteText(t *testing.T, body string) (string, []Mutant) {
	t.Helper()
	g := gomega.NewWithT(t)
	src := "package p\n\ntype s struct{ n int; t string }\n\nfunc g(w string) string { return w }\n\nfunc f(a, b int, p, q bool, w string) int {\n" + body + "\n}\n"
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "p.go", src, parser.SkipObjectResolution)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	conf := types.Config{Importer: importer.Default()}
	pkg, err := conf.Check("p", fset, []*ast.File{f}, info)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	var mutants []Mutant
	r := &rewriter{fset: fset, info: info, pkg: pkg, src: []byte(src), file: "x/p.go", mutants: &mutants}
	out := string(r.rewrite(f))
	_, err = parser.ParseFile(token.NewFileSet(), "p.go", out, 0)
	g.Expect(err).NotTo(gomega.HaveOccurred(), out)
	g.Expect(strings.Count(out, "\n")).To(gomega.BeNumerically("<=", strings.Count(src, "\n")+2), "lines stay where they were")
	_, out, _ = strings.Cut(out, "w string) int {")
	out, _, _ = strings.Cut(out, "; panic(")
	out = strings.ReplaceAll(out, name+".", "")
	return strings.TrimSpace(regexp.MustCompile(`\s+`).ReplaceAllString(out, " ")), mutants
}

func TestEachOperatorHasItsPlace(t *testing.T) {
	for body, want := range map[string]string{
		"if a < b { return 1 }\nreturn 2":             "if Less(1, 2, a , b) { return 1 } return 2",
		"if p && a == b { return 1 }\nreturn 2":       "if And(1, Not(2, p) , func() bool { return ( Not(3, a == b)) }) { return 1 } return 2",
		"a++\nreturn a - b*2":                         "if Keep(1) { Inc(2, &a) } return Sub(3, a , Mul(4, b,2))",
		"a += b\nreturn -a":                           "if Keep(1) { Grow(2, &a , b) } return -a",
		"for !p { break }\nreturn 1 + 1":              "for Not(1, !p) { if Keep(2) { break } } return 1 + 1",
		"switch w { case \"x\": p = true }; return a": "switch w { case Word[string](1, \"x\", w == \"x\"): if Keep(2) { p = Not(3, true) } }; return a",
		"switch g(w) { case \"x\": }; return a":       "switch g(w) { case Word[string](1, \"x\", true): }; return a",
		"x := s{n: a, t: \"c\"}\nreturn x.n":          "x := s{n: Zero(1, a), t: \"c\"} return x.n",
		"defer func() { recover() }()\nreturn a":      "if Keep(1) { defer func() { if Keep(2) { recover() } }() } return a",
		"m := map[int]int{}\nm[a]++\nreturn a":        "m := map[int]int{} if Keep(1) { m[a]++ } return a",
		"const c = true || false\nreturn a":           "const c = true || false return a",
	} {
		t.Run(body, func(t *testing.T) {
			got, mutants := rewriteText(t, body)
			g := gomega.NewWithT(t)
			g.Expect(got).To(gomega.Equal(want))
			for i, m := range mutants {
				g.Expect(m.ID).To(gomega.Equal(i + 1))
				g.Expect(m.Key()).To(gomega.HavePrefix("x/p.go f " + m.Operator + ": "))
			}
		})
	}
}

func TestReasonsAreByRule(t *testing.T) {
	g := gomega.NewWithT(t)
	rs, err := parseReasons("# why\nequivalent: it is sorted again\n\t^a/b.go f negate\n\ngap: nobody asks\n\tboundary\n")
	g.Expect(err).NotTo(gomega.HaveOccurred())
	kind, why := reasonOf(rs, Mutant{File: "a/b.go", Func: "f", Operator: "negate", Text: "a == b"})
	g.Expect(kind + ": " + why).To(gomega.Equal("equivalent: it is sorted again"))
	kind, _ = reasonOf(rs, Mutant{File: "a/b.go", Func: "g", Operator: "boundary"})
	g.Expect(kind).To(gomega.Equal("gap"))
	kind, _ = reasonOf(rs, Mutant{File: "a/b.go", Func: "g", Operator: "negate"})
	g.Expect(kind).To(gomega.BeEmpty())
	for _, wrong := range []string{"\tx", "perhaps: x", "gap", "gap: x\n\t("} {
		_, err := parseReasons(wrong)
		g.Expect(err).To(gomega.HaveOccurred(), wrong)
	}
}
