package policy

import (
	"fmt"
	"io"
	"strings"

	"github.com/turnspec/turnspec/adapters"
)

// Decision is the decision about a call.
type Decision struct {
	Effect adapters.Effect `json:"effect"`
	Reason string          `json:"reason"` // one line, from the first part with this effect
	Tree   *Node           `json:"tree"`   // all judged parts
}

// Node is a judged part of a call. Its effect is the worst of its own and those of its
// parts: deny, ask, allow.
type Node struct {
	What   What            `json:"what"`
	Text   string          `json:"text"` // the part as written
	Effect adapters.Effect `json:"effect"`
	Reason string          `json:"reason,omitzero"` // of its own effect
	Rule   string          `json:"rule,omitzero"`   // the rule that decided, with file:line if it has one
	Parts  []*Node         `json:"parts,omitzero"`

	own     adapters.Effect // without those of the parts
	program string          // of a command
	places  []string        // of a path that is read or written, resolved
}

// What is the kind of a part.
type What string

// The kinds of parts.
const (
	WhatTool     What = "tool"
	WhatScript   What = "script"   // a text for a shell
	WhatCommand  What = "command"  // a simple command: a program and its words
	WhatRedirect What = "redirect" // a redirection
	WhatRead     What = "read"     // a path that is read
	WhatWrite    What = "write"    // a path that is written
	WhatVariable What = "variable" // an assignment
	WhatSyntax   What = "syntax"   // other shell syntax
)

var severity = map[adapters.Effect]int{adapters.EffectAllow: 0, adapters.EffectAsk: 1, adapters.EffectDeny: 2}

// setEffect sets the effect of the node if it is worse than the current one.
func (n *Node) setEffect(e adapters.Effect, reason string) {
	if n.own == "" || severity[e] > severity[n.own] {
		n.own, n.Reason = e, reason
	}
}

func (n *Node) allow(reason string) { n.setEffect(adapters.EffectAllow, reason) }
func (n *Node) deny(reason string)  { n.setEffect(adapters.EffectDeny, reason) }

// addPart adds a part.
func (n *Node) addPart(what What, text string) *Node {
	p := &Node{What: what, Text: text}
	n.Parts = append(n.Parts, p)
	return p
}

// settleEffects computes the effects from the leaves up. A node without an effect and
// without parts is denied, because no code judged it.
func (n *Node) settleEffects() {
	n.Effect = n.own
	if n.own == "" && len(n.Parts) == 0 {
		n.Effect, n.own, n.Reason = adapters.EffectDeny, adapters.EffectDeny, "nothing judged it"
	}
	for _, p := range n.Parts {
		p.settleEffects()
		if n.Effect == "" || severity[p.Effect] > severity[n.Effect] {
			n.Effect = p.Effect
		}
	}
}

// firstCause returns the first node of the tree whose own effect is e.
func (n *Node) firstCause(e adapters.Effect) *Node {
	if n.own == e && n.Reason != "" {
		return n
	}
	for _, p := range n.Parts {
		if c := p.firstCause(e); c != nil {
			return c
		}
	}
	return nil
}

func (n *Node) decision() Decision {
	n.settleEffects()
	d := Decision{Effect: n.Effect, Tree: n}
	if c := n.firstCause(n.Effect); c != nil {
		d.Reason = clipText(c.Text, 120) + ": " + c.Reason
	}
	return d
}

// WriteTree writes the tree of a decision, one node per line with its effect, kind, text
// and reason. Parts are indented by two spaces.
func (d *Decision) WriteTree(w io.Writer) error { return d.Tree.writeTree(w, 0) }

func (n *Node) writeTree(w io.Writer, depth int) error {
	line := fmt.Sprintf("%s%-5s  %s  %s", strings.Repeat("  ", depth), n.Effect, n.What, clipText(n.Text, 100))
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
		if err := p.writeTree(w, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// clipText returns a text as one line of at most so many runes.
func clipText(s string, most int) string {
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
