package policy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"mvdan.cc/sh/v3/syntax"

	"github.com/turnspec/turnspec/adapters"
)

// Mode is the purpose of a session.
type Mode string

// The modes.
const (
	Planner        Mode = "planner"        // reads and plans; changes nothing
	Implementation Mode = "implementation" // writes code, within the bounds
)

// Modes returns all modes.
func Modes() []Mode { return []Mode{Planner, Implementation} }

// Policy defines what an agent may do. The zero value is a planner's policy with every
// tool, which may write nowhere. Deciding does not change a Policy, so it is safe for
// concurrent use.
type Policy struct {
	Mode   Mode   // "" is Planner
	Preset Preset // "" is Full

	// Roots are the absolute folders of the workspace; nothing outside of them may
	// be written. If there are none, the Dir of the call is the only root.
	Roots []string
	// ConfineReads denies reads outside of the roots too.
	ConfineReads bool
	// Home is the folder for ~. If it is empty, paths with ~ are unknown.
	Home string

	// MCP lists the known MCP tools: "server" for all tools of a server,
	// "server/tool" for one, "*" for every tool of every server.
	MCP []string
	// Rules refine the decisions; see the package documentation.
	Rules Rules
	// Unknown is the effect for tools, programs and code that neither the tables
	// nor a rule cover: EffectDeny, or EffectAsk if a user answers. "" means
	// EffectDeny.
	Unknown adapters.Effect
}

// Validate returns all errors of the policy, joined. An invalid policy denies every
// call.
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
		errs = append(errs, fmt.Errorf("unknown %q: want deny or ask; unknown calls are never allowed", p.Unknown))
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

// Decide judges a tool call. It reads the disk, but it runs nothing and keeps nothing.
func (p *Policy) Decide(c adapters.Call) Decision {
	j := p.newJudgement(c)
	n := &Node{What: WhatTool, Text: c.Tool}
	if err := p.Validate(); err != nil {
		n.deny("the policy is not valid: " + err.Error())
	} else {
		j.judgeTool(n, c)
	}
	return n.decision()
}

// failedReason begins the reason if Decide itself fails.
const failedReason = "the policy cannot judge it"

// Judge returns the policy as a Judge for adapters.
func (p *Policy) Judge() adapters.Judge {
	return func(_ context.Context, c adapters.Call) adapters.Verdict {
		d := p.Decide(c)
		return adapters.Verdict{Effect: d.Effect, Reason: d.Reason}
	}
}

// judgement is the state of judging one call.
type judgement struct {
	*Policy

	dir   string   // of the call
	roots []string // resolved
	depth int      // of shells within shells
	size  int      // the number of parts so far

	anyCommand  bool               // a rule allows every unknown command
	text        string             // the current script
	lang        syntax.LangVariant // of the current script
	startDirs   []string           // resolved; the folders in which the call may start
	newLinks    []newLink          // the places of symlinks that the command may make, so far
	newTrees    []newLink          // the places at or below which the command may make a repository
	searched    []string           // the ends of the names of files in which a tool searches, if not all
	tracks      bool               // the command may make git track more files
	left        state              // in which a part of the current loop may leave it
	after       *flow              // of a builtin that changes the state of the shell, until judgeProgram returns it
	background  bool               // a part runs while later ones do
	linksBefore int                // the number of newLinks before those later ones
}

func (p *Policy) newJudgement(c adapters.Call) *judgement {
	j := &judgement{Policy: p, dir: c.Dir}
	roots := p.Roots
	if len(roots) == 0 && filepath.IsAbs(c.Dir) {
		roots = []string{c.Dir}
	}
	for _, r := range roots {
		if place, err := resolvePath(r); err == nil {
			j.roots = append(j.roots, place)
		}
	}
	return j
}

func (p *Policy) modeOrDefault() Mode { return cmp.Or(p.Mode, Planner) }

func (p *Policy) presetOrDefault() Preset { return cmp.Or(p.Preset, Full) }
