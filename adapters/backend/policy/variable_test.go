package policy_test

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"mvdan.cc/sh/v3/syntax"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/backend/policy"
	"github.com/turnspec/turnspec/fixtures/racesample"
)

// values are what a variable may hold: paths, options, scripts and names that some program
// would take for more than text. A tab separates words.
var values = strings.Split(`../out/x|/etc/passwd|.git/config|.claude/settings.json|.env|link-out/x|..|/|-|-o|-o	../out/x|--output=../out/x|-delete|-exec	frob	{}	+|-i|-e|-c|--|-f../out/x|--file=../out/x|-f.env|foreach	frob|expire	--all|run	frob|-rf|-C	..|`+
	`frob|sudo|sudo	ls|cd|$(frob)|a[$(frob)]|; frob|frob;|s/a/b/e|w ../out/x|1e frob|BEGIN{system("frob")}|{print > "../out/x"}|import "x" as $x; .|`+
	`PATH=sub|LD_PRELOAD=x|IFS=/|CC=frob|core.fsmonitor=frob|core.hooksPath|alias.x|!frob|ext::frob|https://example.com/x|git@example.com:x|origin|+main|:main|HEAD:.env|--upload-pack=frob|`+
	`-test.cpuprofile=../x|@latest|x@latest|-p	frob|--config=../out/x|--outDir=../out|0|-1|a b|*|{}|]|-v|-a|-R|!|=|-f	.env|/dev/tcp/127.0.0.1/1|-fprint	../out/x|+%s|-s	2020-01-01|12312020|`, "|")

// TestVariablesMayHoldAnything: a command in which a word is the value of a variable is
// allowed only if it is allowed whatever the value is. So no assignment, in this command or
// before, needs to be followed.
func TestVariablesMayHoldAnything(t *testing.T) {
	g := NewWithT(t)
	s := newStage(t)
	uses, tried := 0, 0
	step := 41
	if racesample.Whole() {
		step = 1
	}
	for i, c := range corpus(t) {
		if i%step != 0 {
			continue
		}
		base := policy.Policy{Mode: c.mode, Roots: []string{s.work}, Home: s.home}
		strict := base
		strict.ConfineReads = true
		for _, p := range []policy.Policy{base, strict} {
			decide := func(command string) policy.Decision {
				return p.Decide(adapters.Call{Tool: "Bash", Dir: s.work, Input: policy.CommandInput(command)})
			}
			for _, w := range wordsOf(c.text) {
				before, after := c.text[:w.from], c.text[w.to:]
				for _, quoted := range []bool{true, false} {
					if !quoted && !w.splits {
						continue
					}
					use := before + map[bool]string{true: `"$v"`, false: "$v"}[quoted] + after
					if decide(use).Effect != allow {
						continue
					}
					uses++
					for _, v := range values {
						command := before + literal(t, v, quoted) + after
						tried++
						// A program of which no option does more than read has options that are not
						// on the list; options_test.go tries them.
						if d := decide(command); d.Effect != allow && !strings.Contains(d.Reason, "unknown option") {
							t.Errorf("%s: %q is allowed, but not %q: %s", c.mode, use, command, d.Reason)
							break
						}
					}
				}
			}
		}
	}
	t.Logf("%d uses of a variable are allowed, and so are %d commands with its values", uses, tried)
	g.Expect(uses).To(BeNumerically(">=", 50))
}

// literal returns the words that a value becomes.
func literal(tb testing.TB, value string, quoted bool) string {
	tb.Helper()
	words := strings.Split(value, "\t")
	if quoted {
		words = []string{strings.ReplaceAll(value, "\t", " ")}
	}
	for i, w := range words {
		if w == "" && !quoted {
			continue
		}
		q, err := syntax.Quote(w, syntax.LangBash)
		if err != nil {
			tb.Fatal(err)
		}
		words[i] = q
	}
	return strings.Join(words, " ")
}

// wordPlace is the place of a word in a command.
type wordPlace struct {
	from, to uint
	splits   bool // a variable without quotes there may become several words
}

// wordsOf returns where the words of simple commands, loops, redirections and assignments are.
func wordsOf(command string) (out []wordPlace) {
	f, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(command), "")
	if err != nil {
		return nil
	}
	add := func(w *syntax.Word, splits bool) {
		if w != nil && w.End().Offset() <= uint(len(command)) {
			out = append(out, wordPlace{w.Pos().Offset(), w.End().Offset(), splits})
		}
	}
	syntax.Walk(f, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CallExpr:
			for _, w := range n.Args {
				add(w, true)
			}
		case *syntax.Redirect:
			if n.Hdoc == nil {
				add(n.Word, false)
			}
		case *syntax.Assign:
			add(n.Value, false)
		case *syntax.WordIter:
			for _, w := range n.Items {
				add(w, true)
			}
		default:
		}
		return true
	})
	return out
}
