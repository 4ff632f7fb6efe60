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

// Rules are a user's rules. Deny wins over ask, and ask over allow. An allow rule
// replaces the effect for unknown calls, and nothing else.
type Rules struct {
	Allow, Ask, Deny []Rule
}

// Rule is a pattern of calls. ParseRule returns one.
type Rule struct {
	text, at string
	tool     string
	words    []string // of a command
	glob     string   // of a path, a host, an agent
	bare     bool     // the tool, whatever its input
}

// String returns the rule as written.
func (r Rule) String() string { return r.text }

// describe returns the rule with its place, for a tree.
func (r Rule) describe(list string) string {
	if r.at == "" {
		return list + " " + r.text
	}
	return r.at + ": " + list + " " + r.text
}

// ParseRule reads a rule:
//
//	Bash(git status:*)         a simple command that begins with these words; :* at the end is " **"
//	Bash(git push ** --force)  words: * and ? and [a-z] match within a word, ** matches any number of words
//	Read(**/.env)              a path that a tool or a command reads: absolute, from ~/, or from a root
//	Edit(go.mod) Write(docs/**)  a path that a tool or a command writes; both mean the same
//	WebFetch(domain:*.example.com)
//	Task(reviewer)             a sub-agent of this type; Agent means the same
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
	if err := checkToolName(name); err != nil {
		return r, fmt.Errorf("rule %q: %w", text, err)
	}
	if !has {
		r.bare = true
		return r, nil
	}
	if strings.TrimSpace(arg) == "" {
		return r, fmt.Errorf("rule %q: the parentheses are empty; %s alone means every call", text, name)
	}
	if name == "Bash" {
		before, open := strings.CutSuffix(arg, ":*")
		r.words = strings.Fields(before)
		if open {
			r.words = append(r.words, "**")
		}
		return r, checkPatterns(text, r.words)
	}
	r.glob = strings.TrimSpace(arg)
	switch knownTools[name].class {
	case classRead, classEdit, classWrite:
		if name != "Read" && name != "Edit" && name != "Write" {
			return r, fmt.Errorf("rule %q: rules of paths are Read(…), Edit(…) or Write(…), and hold for every tool", text)
		}
		return r, checkPatterns(text, strings.Split(r.glob, "/"))
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
	return r, checkPatterns(text, []string{r.glob})
}

// checkToolName returns an error if a rule cannot have this tool name.
func checkToolName(name string) error {
	if name == "" || strings.ContainsAny(name, " \t)/") {
		return errors.New("want the name of a tool first, such as Bash(git status:*)")
	}
	if _, err := path.Match(name, ""); err != nil {
		return err
	}
	if strings.ContainsAny(name, "*?[") && !strings.HasPrefix(name, "mcp__") {
		return errors.New("only names that begin with mcp__ may hold a pattern")
	}
	for k := range knownTools {
		if k != name && strings.EqualFold(k, name) {
			return fmt.Errorf("no tool %s; did you mean %s?", name, k)
		}
	}
	return nil
}

func checkPatterns(text string, words []string) error {
	for _, w := range words {
		if _, err := path.Match(w, ""); err != nil {
			return fmt.Errorf("rule %q: %q: %w", text, w, err)
		}
	}
	return nil
}

// applyRules applies to a node the first deny rule that may match, else the first ask
// rule that may match, else the first allow rule that does match. match reports whether
// a rule may match and whether it does; exact is set for allow rules. applyRules reports
// whether a rule allows.
func (j *judgement) applyRules(n *Node, match func(r Rule, exact bool) (may, does bool)) (allowed bool) {
	for _, l := range []struct {
		name, verb string
		rules      []Rule
		effect     adapters.Effect
	}{{"deny", "denies it", j.Rules.Deny, adapters.EffectDeny}, {"ask", "asks about it", j.Rules.Ask, adapters.EffectAsk}} {
		for _, r := range l.rules {
			may, does := match(r, false)
			if !may && !does {
				continue
			}
			reason := "a rule " + l.verb
			if !does {
				reason = "it may match a rule that " + l.verb
			}
			if severity[l.effect] > severity[n.own] || n.own == "" {
				n.Rule = r.describe(l.name)
			}
			n.setEffect(l.effect, reason)
			_, does = match(r, true)
			return does && l.effect == adapters.EffectAsk // the user has a rule for it
		}
	}
	for _, r := range j.Rules.Allow {
		if _, does := match(r, true); does {
			if n.own == "" {
				n.Rule = r.describe("allow")
			}
			return true
		}
	}
	return false
}

// setUnknown sets the effect of unknown calls.
func (j *judgement) setUnknown(n *Node, reason string) {
	if j.Unknown == adapters.EffectAsk {
		n.setEffect(adapters.EffectAsk, reason)
		return
	}
	n.deny(reason)
}

// applyToolRules applies the rules that consist of the name of a tool.
func (j *judgement) applyToolRules(n *Node, tool string) bool {
	return j.applyRules(n, func(r Rule, _ bool) (bool, bool) {
		return false, r.bare && sameTool(r.tool, tool)
	})
}

// sameTool reports whether a rule's tool matches. The tool for sub-agents has two names.
func sameTool(rule, tool string) bool {
	if tool == "Agent" {
		tool = "Task"
	}
	if rule == "Agent" {
		rule = "Task"
	}
	ok, _ := path.Match(rule, tool)
	return ok
}

// applyPathRules applies the path rules. place is resolved, or "" if it is unknown.
func (j *judgement) applyPathRules(n *Node, a access, place string) {
	j.applyRules(n, func(r Rule, _ bool) (may, does bool) {
		if r.glob == "" || (r.tool == "Read") != (a == reads) || knownTools[r.tool].class > classWrite {
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
			pattern, ok := j.expandHome(pattern)
			return !ok, ok && matchPath(pattern, place)
		}
		return false, slices.ContainsFunc(j.roots, func(root string) bool {
			return isInside(place, root) && matchPath(pattern, strings.TrimPrefix(strings.TrimPrefix(place, root), "/"))
		}) || strings.HasPrefix(pattern, "**/") && matchPath(pattern, place)
	})
}

// matchPath matches a path against a pattern, part by part; ** matches any number of
// parts. If a folder matches, so does everything in it.
func matchPath(pattern, name string) bool {
	return matchParts(splitPath(pattern), splitPath(name))
}

func splitPath(p string) []string {
	return strings.FieldsFunc(p, func(r rune) bool { return r == '/' })
}

func matchParts(pattern, name []string) bool {
	switch {
	case len(pattern) == 0:
		return true // the folder matches, so does everything in it
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

// matchWords matches a command's words against a rule's. If must is set, it reports
// whether they match whatever the unknown words become, else whether they may match.
func matchWords(pattern []string, words []field, must bool) bool {
	// at[j] means that the first j patterns match the words so far.
	at := make([]bool, len(pattern)+1)
	at[0] = true
	skip := func() { // ** may match no word
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

// globWord lets * match slashes too, because a word is not a path.
func globWord(s string) string { return strings.ReplaceAll(s, "/", "\x01") }
