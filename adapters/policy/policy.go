package policy

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"mvdan.cc/sh/v3/syntax"

	"github.com/turnspec/turnspec/adapters"
)

// Mode is what a session is for.
type Mode string

// The modes.
const (
	Planner        Mode = "planner"        // looks at things and plans; changes nothing
	Implementation Mode = "implementation" // codes, within the guard rails
)

// Preset is which tools there are at all. No rule gives more than the preset.
type Preset string

// The presets.
const (
	Full     Preset = "full"      // every tool
	ReadOnly Preset = "read-only" // Read, Glob, Grep, WebFetch, WebSearch
	NoBash   Preset = "no-bash"   // every tool but Bash
	SafeEdit Preset = "safe-edit" // Read, Glob, Grep, Edit, WebFetch, WebSearch
)

// Modes are all that there are.
func Modes() []Mode { return []Mode{Planner, Implementation} }

// Presets are all that there are.
func Presets() []Preset { return []Preset{Full, ReadOnly, NoBash, SafeEdit} }

// Policy is what an agent may do. The zero value is a planner's with every tool,
// that may write nowhere. A Policy is not changed by deciding: many goroutines
// may share one.
type Policy struct {
	Mode   Mode   // "" is Planner
	Preset Preset // "" is Full

	// Roots are the folders of the workspace, absolute: what lies outside of all
	// of them is not written. None: the call's own Dir is the only one.
	Roots []string
	// ConfineReads denies to read outside of the roots, too.
	ConfineReads bool
	// Home is what ~ stands for. "": nobody knows, and such a path is denied
	// where it matters.
	Home string

	// MCP are the MCP tools that are known: "server" for all of a server's,
	// "server/tool" for one, "*" for every tool of every server.
	MCP []string
	// Rules say more; see package documentation.
	Rules Rules
	// Unknown is what becomes of tools, programs and code that nobody has said
	// anything about: EffectDeny, or EffectAsk where somebody answers. "" is
	// EffectDeny.
	Unknown adapters.Effect
}

// Validate says what of the policy is no policy. A policy that is not valid
// denies everything.
func (p *Policy) Validate() error {
	var errs []error
	if p.Mode != "" && !slices.Contains(Modes(), p.Mode) {
		errs = append(errs, fmt.Errorf("mode %q: want one of %v", p.Mode, Modes()))
	}
	if p.Preset != "" && !slices.Contains(Presets(), p.Preset) {
		errs = append(errs, fmt.Errorf("preset %q: want one of %v", p.Preset, Presets()))
	}
	switch p.Unknown {
	case "", adapters.EffectDeny, adapters.EffectAsk:
	default:
		errs = append(errs, fmt.Errorf("unknown %q: want deny or ask: what nobody knows is never allowed", p.Unknown))
	}
	for _, r := range p.Roots {
		if !filepath.IsAbs(r) {
			errs = append(errs, fmt.Errorf("root %q: want an absolute path", r))
		}
	}
	if p.Home != "" && !filepath.IsAbs(p.Home) {
		errs = append(errs, fmt.Errorf("home %q: want an absolute path", p.Home))
	}
	for _, m := range p.MCP {
		if !validMCP(m) {
			errs = append(errs, fmt.Errorf("mcp %q: want server, server/tool or *", m))
		}
	}
	return errors.Join(errs...)
}

// Decide judges a tool call. It reads the disk to resolve symlinks, and nothing
// else: it runs nothing and keeps nothing.
func (p *Policy) Decide(c adapters.Call) Decision {
	j := p.judgement(c)
	n := &Node{What: WhatTool, Text: c.Tool}
	if err := p.Validate(); err != nil {
		n.deny("the policy is not valid: " + err.Error())
	} else {
		j.tool(n, c)
	}
	return n.decision()
}

// failed begins the reason of what made Decide fail.
const failed = "the policy cannot judge it"

// Judge is the policy as adapters take it.
func (p *Policy) Judge() adapters.Judge {
	return func(_ context.Context, c adapters.Call) adapters.Verdict {
		d := p.Decide(c)
		return adapters.Verdict{Effect: d.Effect, Reason: d.Reason}
	}
}

// judgement is the work on one call.
type judgement struct {
	*Policy

	dir   string   // of the call
	roots []string // resolved
	depth int      // of shells within shells
	size  int      // parts so far

	anyCommand bool               // a rule allows every command that nobody knows
	text       string             // the script at hand
	lang       syntax.LangVariant // of the script at hand
	moved      bool               // some command changes the folder
	bodies     []body             // functions and traps: they may run from another folder
	roaming    map[string]bool    // functions that change the folder
	counted    map[string]bool    // variables that stand in arithmetic
	tainted    map[string]bool    // variables that may hold more than a number
}

func (p *Policy) judgement(c adapters.Call) *judgement {
	j := &judgement{Policy: p, dir: c.Dir, roaming: map[string]bool{}, counted: map[string]bool{}, tainted: map[string]bool{}}
	roots := p.Roots
	if len(roots) == 0 && filepath.IsAbs(c.Dir) {
		roots = []string{c.Dir}
	}
	for _, r := range roots {
		if place, err := physical(r); err == nil {
			j.roots = append(j.roots, place)
		}
	}
	return j
}

func (p *Policy) mode() Mode {
	if p.Mode == "" {
		return Planner
	}
	return p.Mode
}

func (p *Policy) preset() Preset {
	if p.Preset == "" {
		return Full
	}
	return p.Preset
}
