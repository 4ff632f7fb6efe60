package policy

import (
	"fmt"
	"io"
	"strings"

	"github.com/turnspec/turnspec/adapters"
)

// Decision is what is to become of a call.
type Decision struct {
	Effect adapters.Effect `json:"effect"`
	Reason string          `json:"reason"` // one line, of the first part that has this effect
	Tree   *Node           `json:"tree"`   // all that was judged
}

// Node is a part of a call that was judged. Its effect is the worst of its own
// and its parts': deny, ask, allow.
type Node struct {
	What   What            `json:"what"`
	Text   string          `json:"text"` // the part, as it was written
	Effect adapters.Effect `json:"effect"`
	Reason string          `json:"reason,omitzero"` // why it has its own effect
	Rule   string          `json:"rule,omitzero"`   // the rule that decided, with its file:line if it has one
	Parts  []*Node         `json:"parts,omitzero"`

	own adapters.Effect // apart from the parts'
}

// What is the kind of a part.
type What string

// The kinds of parts.
const (
	WhatTool     What = "tool"
	WhatScript   What = "script"   // a text that a shell runs
	WhatCommand  What = "command"  // a simple command: a program and its words
	WhatRedirect What = "redirect" // a redirection
	WhatRead     What = "read"     // a path that is read
	WhatWrite    What = "write"    // a path that is written
	WhatVariable What = "variable" // an assignment
	WhatSyntax   What = "syntax"   // anything else of a shell's grammar
)

var severity = map[adapters.Effect]int{adapters.EffectAllow: 0, adapters.EffectAsk: 1, adapters.EffectDeny: 2}

// set gives the node an effect, if that is worse than the one that it has.
func (n *Node) set(e adapters.Effect, reason string) {
	if n.own == "" || severity[e] > severity[n.own] {
		n.own, n.Reason = e, reason
	}
}

func (n *Node) allow(reason string) { n.set(adapters.EffectAllow, reason) }
func (n *Node) deny(reason string)  { n.set(adapters.EffectDeny, reason) }

// part adds a part.
func (n *Node) part(what What, text string) *Node {
	p := &Node{What: what, Text: text}
	n.Parts = append(n.Parts, p)
	return p
}

// settle works out the effects from the leaves up. A node of which nobody said
// anything and that has no parts was forgotten: it is denied.
func (n *Node) settle() {
	n.Effect = n.own
	if n.own == "" && len(n.Parts) == 0 {
		n.Effect, n.own, n.Reason = adapters.EffectDeny, adapters.EffectDeny, "nothing speaks for it"
	}
	for _, p := range n.Parts {
		p.settle()
		if n.Effect == "" || severity[p.Effect] > severity[n.Effect] {
			n.Effect = p.Effect
		}
	}
}

// cause is the first node in the tree that has the effect by itself.
func (n *Node) cause(e adapters.Effect) *Node {
	if n.own == e && n.Reason != "" {
		return n
	}
	for _, p := range n.Parts {
		if c := p.cause(e); c != nil {
			return c
		}
	}
	return nil
}

func (n *Node) decision() Decision {
	n.settle()
	d := Decision{Effect: n.Effect, Tree: n}
	if c := n.cause(n.Effect); c != nil {
		d.Reason = shorten(c.Text, 120) + ": " + c.Reason
	}
	return d
}

// WriteTree prints the tree of a decision, a node a line, parts behind two more
// blanks: the effect, the kind, the text, the reason.
func (d *Decision) WriteTree(w io.Writer) error { return d.Tree.write(w, 0) }

func (n *Node) write(w io.Writer, depth int) error {
	line := fmt.Sprintf("%s%-5s  %s  %s", strings.Repeat("  ", depth), n.Effect, n.What, shorten(n.Text, 100))
	if n.Reason != "" {
		line += "  -- " + n.Reason
	}
	if n.Rule != "" {
		line += "  [" + n.Rule + "]"
	}
	if _, err := fmt.Fprintln(w, line); err != nil {
		return err
	}
	for _, p := range n.Parts {
		if err := p.write(w, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// shorten makes a text one line of at most so many runes.
func shorten(s string, most int) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return '␣'
		}
		return r
	}, strings.TrimSpace(s))
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}
