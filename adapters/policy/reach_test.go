package policy

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"mvdan.cc/sh/v3/syntax"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/fixtures/racesample"
)

// commands are so many of the grammar's.
func commands(seed uint64, n int) (out []string) {
	r := rand.New(rand.NewPCG(seed, 1))
	for range n {
		b := make([]byte, 40)
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		g := grammar{bytes: b}
		out = append(out, g.script())
	}
	return out
}

// What a policy allows reaches no program that is denied and writes nowhere but
// where it may: the command really runs. Of the commands that the grammar makes
// about one of ten is allowed; each that is takes some 50 ms of CPU, the test
// about 5 s.
func TestAllowedCommandsDoNoHarm(t *testing.T) {
	c := newCell(t)
	g := NewWithT(t)
	allowed := 0
	for i, command := range commands(11, 1000) {
		mode := Modes()[i%2]
		ok, harm := c.try(t, sound, mode, command)
		if ok {
			allowed++
		}
		if len(harm) > 0 {
			t.Errorf("%s allowed %q: %v", mode, command, harm)
		}
	}
	t.Logf("%d allowed", allowed)
	g.Expect(allowed).To(BeNumerically(">=", 50), "an oracle that sees no command sees nothing")
}

// FuzzGrammar lets the fuzzer choose what the grammar makes; see
// TestAllowedCommandsDoNoHarm. The seeds take a second.
func FuzzGrammar(f *testing.F) {
	r := rand.New(rand.NewPCG(2, 2))
	for range 60 {
		b := make([]byte, 40)
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		f.Add(b)
	}
	c := newCell(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		g := grammar{bytes: b}
		command := g.script()
		for _, mode := range Modes() {
			if _, harm := c.try(t, sound, mode, command); len(harm) > 0 {
				t.Errorf("%s allowed %q: %v", mode, command, harm)
			}
		}
	})
}

// FuzzText lets the fuzzer write the command. No text may make Decide panic, and
// what is allowed runs in the cell. The seeds take 2 s.
func FuzzText(f *testing.F) {
	for _, command := range append(commands(3, 60), seeds...) {
		f.Add(command)
	}
	c := newCell(f)
	f.Fuzz(func(t *testing.T, command string) {
		if strings.ContainsRune(command, 0) {
			return // no command line holds one
		}
		for _, mode := range Modes() {
			if _, harm := c.try(t, sound, mode, command); len(harm) > 0 {
				t.Errorf("%s allowed %q: %v", mode, command, harm)
			}
		}
	})
}

// seeds are texts near the edges of a shell's grammar.
var seeds = []string{
	"echo a;echo b", "cat <<E\n$(ls)\nE\n", "cat <<-\"E\"\n\tx\n\tE\n", "a=1 b=2 echo $a", "echo ${a:-b} ${#a} ${a%b}", "for i in 1 2; do echo $i; done",
	"echo 'a'\"b\"$'c'\\d", "case a in (a) echo;; esac", "[[ a == b* && -f a.txt ]]", "echo $((1+2)) $[1]", "if true; then ls; fi", "f() { ls; }; f", "ls &>/dev/null",
	"echo {a,b}{1..3}", "cat a.txt | { read -r x; echo \"$x\"; }", "x=(1 2 3); echo ${x[@]}", "sort <(cat a.txt)", "true && ! false || ls", "echo a\\\nb", "time -p ls",
	"echo \"`cat a.txt`\"", "while read -r l; do echo \"$l\"; done < a.txt", "set -euo pipefail", "sed -n '/a/,$p;s/x/y/gp' a.txt", "awk -F: '$1 == 2 {print $2}' a.txt", "find . -name '*.txt' -print",
	"ls; # comment", "echo !! ^a^b", "((x++))", "echo a >| new; rm -f new", "cd sub && touch x; cd ..", "env LANG=C sort a.txt | xargs -n1 echo",
}

// A judge that is broken is caught: the oracle finds a command that it allows
// and that does harm. Each is broken in one thing that policies of other people
// have been broken in.
func TestTheOracleCatches(t *testing.T) {
	if racesample.Enabled {
		t.Skip("it judges a hundred thousand commands one after another, which takes minutes with the race detector; it is run without")
	}
	c := newCell(t)
	// seen is a judge that decides about another text than the one that runs.
	seen := func(change func(string) string) decider {
		return func(p *Policy, command, dir string) adapters.Effect { return sound(p, change(command), dir) }
	}
	// as is a judge to which a program is another one.
	as := func(name string, p program) func() func() {
		return func() func() {
			was := programs[name]
			programs[name] = &p
			return func() { programs[name] = was }
		}
	}
	pattern := func(deny string) decider {
		re := regexp.MustCompile(deny)
		return func(_ *Policy, command, _ string) adapters.Effect {
			if re.MatchString(command) {
				return adapters.EffectDeny
			}
			return adapters.EffectAllow
		}
	}
	all := append(slices.Clone(aimed), commands(1, 7000)...)
	for _, b := range []struct {
		name   string
		decide decider
		table  func() func()
	}{
		{name: "a pattern from the beginning", decide: pattern(`^(sudo|frob|chmod|perl|curl)\s`)},
		{name: "a pattern of whole words", decide: pattern(`\b(sudo|frob|chmod|perl|curl)\b|>`)},
		{name: "the first command alone", decide: seen(func(s string) string { return rewrite(s, first) })},
		{name: "no redirections", decide: seen(func(s string) string { return rewrite(s, noRedirects) })},
		{name: "no substitutions", decide: seen(func(s string) string { return rewrite(s, noSubstitutions) })},
		{name: "no here-documents", decide: seen(func(s string) string { return rewrite(s, noHereDocs) })},
		{name: "no assignments", decide: seen(func(s string) string { return rewrite(s, noAssignments) })},
		{name: "no bodies of functions", decide: seen(func(s string) string { return rewrite(s, noBodies) })},
		{name: "variables are their names", decide: seen(func(s string) string { return rewrite(s, noVariables) })},
		{name: "cd goes nowhere", table: as("cd", program{args: nothing})},
		{name: "eval prints", table: as("eval", program{args: nothing})},
		{name: "env prints", table: as("env", program{args: nothing})},
		{name: "timeout prints", table: as("timeout", program{args: nothing})},
		{name: "xargs prints", table: as("xargs", program{args: nothing})},
		{name: "find only looks", table: as("find", program{args: nothing})},
		{name: "sed only edits what it prints", table: as("sed", program{})},
		{name: "awk only prints", table: as("awk", program{})},
		{name: "sort only prints", table: as("sort", program{})},
		{name: "uniq only prints", table: as("uniq", program{})},
		{name: "bash reads", table: as("bash", program{})},
		{name: "trap keeps", table: as("trap", program{args: nothing})},
		{name: "test tests", table: as("test", program{args: nothing})},
		{name: "cp has one form", table: as("cp", program{args: writesLast})},
		{name: "any variable", table: func() func() {
			was, liked := hijackingVariables, harmlessVariables
			hijackingVariables, harmlessVariables = nil, []string{"*"}
			return func() { hijackingVariables, harmlessVariables = was, liked }
		}},
	} {
		t.Run(b.name, func(t *testing.T) {
			decide := sound
			if b.decide != nil {
				decide = b.decide
			}
			if b.table != nil {
				defer b.table()()
			}
			for i, command := range all {
				mode := Modes()[i%2]
				// Only where the broken judge and the sound one differ there is
				// something to find, which the test above looks for.
				if decide(c.policy(mode), command, c.work) != adapters.EffectAllow {
					continue
				}
				if b.decide != nil && sound(c.policy(mode), command, c.work) == adapters.EffectAllow {
					continue
				}
				if _, harm := c.try(t, decide, mode, command); len(harm) > 0 {
					t.Logf("command %d, %q: %v", i, command, harm)
					return
				}
			}
			t.Error("no command that it allows does harm")
		})
	}
}

// aimed are commands that the grammar makes too seldom.
var aimed = []string{"BASH_ENV=run.sh bash -c ls", "cd sub; touch ../../out/new"}

// rewrite is a script after a change to its parts; what cannot be parsed stays.
func rewrite(s string, change func(syntax.Node) bool) string {
	f, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(s), "")
	if err != nil {
		return s
	}
	syntax.Walk(f, change)
	var sb strings.Builder
	if err := syntax.NewPrinter().Print(&sb, f); err != nil {
		return s
	}
	return sb.String()
}

func first(n syntax.Node) bool {
	if f, ok := n.(*syntax.File); ok && len(f.Stmts) > 1 {
		f.Stmts = f.Stmts[:1]
	}
	return true
}

func noRedirects(n syntax.Node) bool {
	if s, ok := n.(*syntax.Stmt); ok {
		s.Redirs = slices.DeleteFunc(s.Redirs, func(r *syntax.Redirect) bool { return r.Hdoc == nil })
	}
	return true
}

func noHereDocs(n syntax.Node) bool {
	if s, ok := n.(*syntax.Stmt); ok {
		s.Redirs = slices.DeleteFunc(s.Redirs, func(r *syntax.Redirect) bool { return r.Hdoc != nil })
	}
	return true
}

func noAssignments(n syntax.Node) bool {
	if c, ok := n.(*syntax.CallExpr); ok && len(c.Args) > 0 {
		c.Assigns = nil
	}
	return true
}

func noBodies(n syntax.Node) bool {
	if f, ok := n.(*syntax.FuncDecl); ok {
		f.Body = &syntax.Stmt{Cmd: &syntax.Block{Stmts: []*syntax.Stmt{{Cmd: &syntax.CallExpr{Args: []*syntax.Word{text(":")}}}}}}
	}
	return true
}

func text(s string) *syntax.Word {
	return &syntax.Word{Parts: []syntax.WordPart{&syntax.Lit{Value: s}}}
}

func noSubstitutions(n syntax.Node) bool {
	replace(n, func(p syntax.WordPart) bool {
		_, cmd := p.(*syntax.CmdSubst)
		_, proc := p.(*syntax.ProcSubst)
		return cmd || proc
	})
	return true
}

func noVariables(n syntax.Node) bool {
	replace(n, func(p syntax.WordPart) bool {
		_, ok := p.(*syntax.ParamExp)
		return ok
	})
	return true
}

func replace(n syntax.Node, what func(syntax.WordPart) bool) {
	parts := []syntax.WordPart{}
	switch n := n.(type) {
	case *syntax.Word:
		parts = n.Parts
	case *syntax.DblQuoted:
		parts = n.Parts
	}
	for i, p := range parts {
		if what(p) {
			parts[i] = &syntax.Lit{Value: "x"}
		}
	}
}

func (c *cell) policy(mode Mode) *Policy {
	return &Policy{Mode: mode, Roots: []string{c.work}, Home: fmt.Sprint(c.stage, "/home")}
}
