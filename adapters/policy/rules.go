package policy

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/turnspec/turnspec/adapters"
)

// Rules are what users say. Deny beats ask, ask beats allow; an allow rule takes
// the place of "nobody has said anything about it" and of nothing else.
type Rules struct {
	Allow, Ask, Deny []Rule
}

// Rule is a pattern of calls. ParseRule makes one.
type Rule struct {
	text, at string
	tool     string
	words    []string // of a command
	glob     string   // of a path, a host, an agent
	bare     bool     // the tool, whatever its input
}

// String is the rule as it was written.
func (r Rule) String() string { return r.text }

// where is the rule with its place, for a tree.
func (r Rule) where(list string) string {
	if r.at == "" {
		return list + " " + r.text
	}
	return r.at + ": " + list + " " + r.text
}

// ParseRule reads a rule:
//
//	Bash(git status:*)         a simple command that begins with these words; :* at the end is " **"
//	Bash(git push ** --force)  one word by word: * and ? and [a-z] stand within a word, ** for any number of words
//	Read(**/.env)              a path that a tool or a command reads: absolute, from ~/, or from a root
//	Edit(go.mod) Write(docs/**)  a path that a tool or a command writes: both say the same
//	WebFetch(domain:*.example.com)
//	Task(reviewer)             a sub-agent of this type; Agent says the same
//	mcp__bank__*               tools by name
//	WebSearch                  a tool, whatever its input
func ParseRule(text string) (Rule, error) {
	r := Rule{text: text}
	name, rest, has := strings.Cut(text, "(")
	arg, closed := strings.CutSuffix(rest, ")")
	r.tool = name
	if has && !closed {
		return r, fmt.Errorf("rule %q: want a ) at the end", text)
	}
	if err := toolName(name); err != nil {
		return r, fmt.Errorf("rule %q: %w", text, err)
	}
	if !has {
		r.bare = true
		return r, nil
	}
	if strings.TrimSpace(arg) == "" {
		return r, fmt.Errorf("rule %q: nothing stands in the parentheses; %s alone means every call", text, name)
	}
	if name == "Bash" {
		before, open := strings.CutSuffix(arg, ":*")
		r.words = strings.Fields(before)
		if open {
			r.words = append(r.words, "**")
		}
		return r, globs(text, r.words)
	}
	r.glob = strings.TrimSpace(arg)
	switch known[name].class {
	case classRead, classEdit, classWrite:
		if name != "Read" && name != "Edit" && name != "Write" {
			return r, fmt.Errorf("rule %q: rules of paths are Read(…), Edit(…) or Write(…), and hold for every tool", text)
		}
		return r, globs(text, strings.Split(r.glob, "/"))
	case classWeb:
		host, ok := strings.CutPrefix(r.glob, "domain:")
		if name != "WebFetch" || !ok {
			return r, fmt.Errorf("rule %q: want WebFetch(domain:HOST)", text)
		}
		r.glob = strings.ToLower(host)
	case classAgent:
		if name != "Task" && name != "Agent" {
			return r, fmt.Errorf("rule %q: want Task(TYPE)", text)
		}
	default:
		return r, fmt.Errorf("rule %q: %s takes nothing in parentheses", text, name)
	}
	return r, globs(text, []string{r.glob})
}

// toolName says what is wrong with the name of a tool in a rule.
func toolName(name string) error {
	if name == "" || strings.ContainsAny(name, " \t)/") {
		return errors.New("want the name of a tool first, such as Bash(git status:*)")
	}
	if _, err := path.Match(name, ""); err != nil {
		return err
	}
	if strings.ContainsAny(name, "*?[") && !strings.HasPrefix(name, "mcp__") {
		return errors.New("only names that begin with mcp__ may hold a pattern")
	}
	for k := range known {
		if k != name && strings.EqualFold(k, name) {
			return fmt.Errorf("no tool %s; %s is meant?", name, k)
		}
	}
	return nil
}

func globs(text string, words []string) error {
	for _, w := range words {
		if _, err := path.Match(w, ""); err != nil {
			return fmt.Errorf("rule %q: %q: %w", text, w, err)
		}
	}
	return nil
}

// apply lets the rules speak about a node: the first deny rule that may match,
// else the first ask rule that may, else the first allow rule that does. match
// says how a rule stands to what is judged; exact is wanted of one that allows.
// It reports whether a rule allows.
func (j *judgement) apply(n *Node, match func(r Rule, exact bool) (may, does bool)) (allowed bool) {
	for _, l := range []struct {
		name   string
		rules  []Rule
		effect adapters.Effect
	}{{"deny", j.Rules.Deny, adapters.EffectDeny}, {"ask", j.Rules.Ask, adapters.EffectAsk}} {
		for _, r := range l.rules {
			may, does := match(r, false)
			if !may && !does {
				continue
			}
			reason := "a rule says " + l.name
			if !does {
				reason = "it may be what a rule is about that says " + l.name
			}
			if severity[l.effect] > severity[n.own] || n.own == "" {
				n.Rule = r.where(l.name)
			}
			n.set(l.effect, reason)
			_, does = match(r, true)
			return does && l.effect == adapters.EffectAsk // then somebody has said something
		}
	}
	for _, r := range j.Rules.Allow {
		if _, does := match(r, true); does {
			if n.own == "" {
				n.Rule = r.where("allow")
			}
			return true
		}
	}
	return false
}

// unknown is for what nobody has said anything about.
func (j *judgement) unknown(n *Node, reason string) {
	if j.Unknown == adapters.EffectAsk {
		n.set(adapters.EffectAsk, reason)
		return
	}
	n.deny(reason)
}

// toolRules are the rules that need nothing but the name of the tool.
func (j *judgement) toolRules(n *Node, tool string) bool {
	return j.apply(n, func(r Rule, _ bool) (bool, bool) {
		return false, r.bare && same(r.tool, tool)
	})
}

// same: a tool has one name, but the sub-agents' has two.
func same(rule, tool string) bool {
	if tool == "Agent" {
		tool = "Task"
	}
	if rule == "Agent" {
		rule = "Task"
	}
	ok, _ := path.Match(rule, tool)
	return ok
}

// pathRules are the rules of paths. place is resolved, or "" when nobody knows.
func (j *judgement) pathRules(n *Node, tool, place string) {
	j.apply(n, func(r Rule, _ bool) (may, does bool) {
		if r.glob == "" || (r.tool == "Read") != (tool == "Read") || known[r.tool].class > classWrite {
			return false, false
		}
		if place == "" {
			return true, false
		}
		pattern := r.glob
		switch {
		case filepath.IsAbs(pattern):
			return false, matchPath(pattern, place)
		case strings.HasPrefix(pattern, "~"):
			pattern, ok := j.home(pattern)
			return !ok, ok && matchPath(pattern, place)
		}
		return false, slices.ContainsFunc(j.roots, func(root string) bool {
			return inside(place, root) && matchPath(pattern, strings.TrimPrefix(strings.TrimPrefix(place, root), "/"))
		}) || strings.HasPrefix(pattern, "**/") && matchPath(pattern, place)
	})
}

// matchPath matches a path against a pattern, part by part; ** stands for any
// number of parts. What lies in a folder that matches, matches.
func matchPath(pattern, name string) bool {
	return matchParts(split(pattern), split(name))
}

func split(p string) []string {
	return strings.FieldsFunc(p, func(r rune) bool { return r == '/' })
}

func matchParts(pattern, name []string) bool {
	switch {
	case len(pattern) == 0:
		return true // the folder matched: so does all that is in it
	case pattern[0] == "**":
		for i := range len(name) + 1 {
			if matchParts(pattern[1:], name[i:]) {
				return len(pattern) > 1 || len(name) > 0
			}
		}
		return false
	case len(name) == 0:
		return false
	}
	ok, _ := path.Match(strings.ToLower(pattern[0]), strings.ToLower(name[0]))
	return ok && matchParts(pattern[1:], name[1:])
}

// matchWords matches a command's words against a rule's. must: whatever the
// words that nobody knows become, it matches. Else: they may become such that it
// does.
func matchWords(pattern []string, words []field, must bool) bool {
	// at[j]: the words so far may be matched by the first j of the pattern.
	at := make([]bool, len(pattern)+1)
	at[0] = true
	skip := func() { // ** may stand for no word
		for j, p := range pattern {
			at[j+1] = at[j+1] || at[j] && p == "**"
		}
	}
	skip()
	for _, w := range words {
		next := make([]bool, len(pattern)+1)
		for j := range at {
			if !at[j] {
				continue
			}
			if !must && (w.splits || w.glob) {
				for k := j; k <= len(pattern); k++ {
					next[k] = true
				}
			}
			if j == len(pattern) {
				continue
			}
			switch p := pattern[j]; {
			case p == "**":
				next[j] = true
			case w.splits || w.glob:
			case w.known:
				ok, _ := path.Match(globWord(p), globWord(w.text))
				next[j+1] = next[j+1] || ok
			case !must || p == "*":
				next[j+1] = true
			}
		}
		at = next
		skip()
	}
	return at[len(pattern)]
}

// globWord lets * match slashes, too: a word is no path.
func globWord(s string) string { return strings.ReplaceAll(s, "/", "\x01") }
