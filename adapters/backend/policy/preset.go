package policy

import (
	"context"

	"github.com/turnspec/turnspec/adapters"
)

// Preset is an outer bound on tools. No rule allows a tool outside of the preset.
type Preset string

// The presets.
const (
	Full     Preset = "full"      // every tool
	ReadOnly Preset = "read-only" // Read, Glob, Grep, WebFetch, WebSearch
	NoBash   Preset = "no-bash"   // every tool except Bash
	SafeEdit Preset = "safe-edit" // Read, Glob, Grep, Edit, WebFetch, WebSearch
)

// Presets returns all presets.
func Presets() []Preset { return []Preset{Full, ReadOnly, NoBash, SafeEdit} }

// Judge returns a judge for the preset alone, without the rules and the workspace of a
// Policy: it denies the tools outside of the preset, and leaves the others to the runtime.
// Tools that are not known are in full and no-bash only. For safe-edit it denies edits that
// make, move or remove files, or that are outside of the call's Dir. It denies everything if
// the preset is unknown.
func (p Preset) Judge() adapters.Judge {
	policy := Policy{Mode: Implementation, Preset: p}
	invalid := policy.Validate()
	return func(_ context.Context, c adapters.Call) adapters.Verdict {
		class := knownTools[c.Tool].class
		switch {
		case invalid != nil:
			return adapters.Verdict{Effect: adapters.EffectDeny, Reason: invalid.Error()}
		case !inPreset(p, class):
			return adapters.Verdict{Effect: adapters.EffectDeny, Reason: "the preset " + string(p) + " has no such tool"}
		case class == classEdit && !inPreset(p, classWrite):
			if d := policy.Decide(c); d.Effect == adapters.EffectDeny {
				return adapters.Verdict{Effect: adapters.EffectDeny, Reason: d.Reason}
			}
		}
		return adapters.Verdict{Effect: adapters.EffectAsk}
	}
}
