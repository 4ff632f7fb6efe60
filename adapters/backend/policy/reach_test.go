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

// commands returns n commands of the grammar.
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

// byDay returns the first number, or the second if the tests run on all that they have.
func byDay(some, all int) int {
	if racesample.Whole() {
		return all
	}
	return some
}

// TestAllowedCommandsDoNoHarm runs the commands that a policy allows: none may reach a
// denied program or write outside of the allowed places. About one of ten commands of
// the grammar is allowed and takes 50 ms of CPU. By day it runs a quarter of them.
func TestAllowedCommandsDoNoHarm(t *testing.T) {
	c := newCell(t)
	g := NewWithT(t)
	allowed := 0
	for i, command := range commands(11, byDay(250, 1000)) {
		mode := Modes()[i%2]
		ok, harm := c.tryCommand(t, sound, mode, command)
		if ok {
			allowed++
		}
		if len(harm) > 0 {
			t.Errorf("%s allowed %q: %v", mode, command, harm)
		}
	}
	t.Logf("%d allowed", allowed)
	g.Expect(allowed).To(BeNumerically(">=", byDay(10, 50)), "the test proves nothing if no command runs")
}

// FuzzGrammar is TestAllowedCommandsDoNoHarm with commands chosen by the fuzzer. The
// seeds take a second.
func FuzzGrammar(f *testing.F) {
	r := rand.New(rand.NewPCG(2, 2))
	for range byDay(15, 60) {
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
			if _, harm := c.tryCommand(t, sound, mode, command); len(harm) > 0 {
				t.Errorf("%s allowed %q: %v", mode, command, harm)
			}
		}
	})
}

// FuzzText runs any allowed text in the cell. No text may make Decide panic. The seeds
// take 2 s.
func FuzzText(f *testing.F) {
	for _, command := range append(commands(3, byDay(10, 60)), seeds...) {
		f.Add(command)
	}
	c := newCell(f)
	f.Fuzz(func(t *testing.T, command string) {
		if strings.ContainsRune(command, 0) {
			return // a command line cannot contain NUL
		}
		for _, mode := range Modes()[byDay(1, 0):] { // a planner allows less
			if _, harm := c.tryCommand(t, sound, mode, command); len(harm) > 0 {
				t.Errorf("%s allowed %q: %v", mode, command, harm)
			}
		}
	})
}

// seeds are edge cases of a shell's grammar.
var seeds = []string{
	"echo a;echo b", "cat <<E\n$(ls)\nE\n", "cat <<-\"E\"\n\tx\n\tE\n", "a=1 b=2 echo $a", "echo ${a:-b} ${#a} ${a%b}", "for i in 1 2; do echo $i; done",
	"echo 'a'\"b\"$'c'\\d", "case a in (a) echo;; esac", "[[ a == b* && -f a.txt ]]", "echo $((1+2)) $[1]", "if true; then ls; fi", "f() { ls; }; f", "ls &>/dev/null",
	"echo {a,b}{1..3}", "cat a.txt | { read -r x; echo \"$x\"; }", "x=(1 2 3); echo ${x[@]}", "sort <(cat a.txt)", "true && ! false || ls", "echo a\\\nb", "time -p ls",
	"echo \"`cat a.txt`\"", "while read -r l; do echo \"$l\"; done < a.txt", "set -euo pipefail", "sed -n '/a/,$p;s/x/y/gp' a.txt", "awk -F: '$1 == 2 {print $2}' a.txt", "find . -name '*.txt' -print",
	"ls; # comment", "echo !! ^a^b", "((x++))", "echo a >| new; rm -f new", "cd sub && touch x; cd ..", "env LANG=C sort a.txt | xargs -n1 echo",
}

// TestOracleFindsBrokenJudges: for each broken judge the oracle finds a command that it
// allows and that does harm. Each has one defect that a real policy had.
func TestOracleFindsBrokenJudges(t *testing.T) {
	if racesample.Enabled {
		t.Skip("judging a hundred thousand commands takes minutes with the race detector")
	}
	c := newCell(t)
	// changed returns a judge that decides about a changed text of the command.
	changed := func(change func(string) string) decider {
		return func(p *Policy, command, dir string) adapters.Effect { return sound(p, change(command), dir) }
	}
	// replaced returns a table in which a program is replaced.
	replaced := func(name string, p program) func() func() {
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
	all := append(slices.Clone(aimed), commands(1, byDay(500, 7000))...)
	mode := func(i int) Mode { return Modes()[i%2] }
	allowed := make([]bool, len(all)) // by the sound judge, with the tables as they are
	for i, command := range all {
		allowed[i] = sound(c.policy(mode(i)), command, c.work) == adapters.EffectAllow
	}
	for _, b := range []struct {
		name   string
		decide decider
		table  func() func()
	}{
		{name: "a pattern from the beginning", decide: pattern(`^(sudo|frob|chmod|perl|curl)\s`)},
		{name: "a pattern of whole words", decide: pattern(`\b(sudo|frob|chmod|perl|curl)\b|>`)},
		{name: "the first command alone", decide: changed(func(s string) string { return rewriteScript(s, keepFirst) })},
		{name: "no redirections", decide: changed(func(s string) string { return rewriteScript(s, noRedirects) })},
		{name: "no substitutions", decide: changed(func(s string) string { return rewriteScript(s, noSubstitutions) })},
		{name: "no here-documents", decide: changed(func(s string) string { return rewriteScript(s, noHereDocs) })},
		{name: "no assignments", decide: changed(func(s string) string { return rewriteScript(s, noAssignments) })},
		{name: "variables are their names", decide: changed(func(s string) string { return rewriteScript(s, noVariables) })},
		{name: "cd goes nowhere", table: replaced("cd", program{args: textOnly})},
		{name: "eval prints", table: replaced("eval", program{args: textOnly})},
		{name: "env prints", table: replaced("env", program{args: textOnly})},
		{name: "timeout prints", table: replaced("timeout", program{args: textOnly})},
		{name: "xargs prints", table: replaced("xargs", program{args: textOnly})},
		{name: "find only looks", table: replaced("find", program{args: textOnly})},
		{name: "sed only edits what it prints", table: replaced("sed", program{args: textOnly})},
		{name: "awk only prints", table: replaced("awk", program{args: textOnly})},
		{name: "sort only prints", table: replaced("sort", program{args: textOnly})},
		{name: "uniq only prints", table: replaced("uniq", program{args: textOnly})},
		{name: "bash reads", table: replaced("bash", program{args: textOnly})},
		{name: "trap keeps", table: replaced("trap", program{args: textOnly})},
		{name: "test tests", table: replaced("test", program{args: textOnly})},
		{name: "cp has one form", table: replaced("cp", program{args: writesLast, options: compileOptions("rPt: --target-directory:", false)})},
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
				// TestAllowedCommandsDoNoHarm covers the commands for which the
				// broken judge and the sound one agree.
				if allowed[i] || decide(c.policy(mode(i)), command, c.work) != adapters.EffectAllow {
					continue
				}
				if _, harm := c.tryCommand(t, decide, mode(i), command); len(harm) > 0 {
					t.Logf("command %d, %q: %v", i, command, harm)
					return
				}
			}
			t.Error("no command that it allows does harm")
		})
	}
}

// aimed are commands that show what is wrong with a broken judge without a long search.
var aimed = []string{
	"BASH_ENV=run.sh bash -c ls", "cd .. && touch out/new", "cd sub; touch ../../out/new", "rm -f b.txt {y}> .git/config", "case x in $(sudo)) ls;; esac", "cat <<E\n`sudo`\nE\n",
	"eval 'sudo ls'", "env X=1 frob", "timeout 1 curl", "echo ../out/z | xargs touch", "find . -exec touch ../out/z \\;", "sed 's/a/b/w ../out/x' a.txt", "awk '{print | \"sudo\"}' a.txt",
	"sort a.txt -o ../out/x", "uniq a.txt ../out/x", "bash <<< 'chmod x'", "trap frob EXIT", "cp -t ../out a.txt sub", "test -v 'a[$(sudo)]'", "x=../out/x; echo x > $x", "cat <<E\n${x:-$(tar -cf ../out/x a.txt)}\nE\n",
}

// rewriteScript changes the parts of a script. It returns a script that cannot be parsed
// unchanged.
func rewriteScript(s string, change func(syntax.Node) bool) string {
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

func keepFirst(n syntax.Node) bool {
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
