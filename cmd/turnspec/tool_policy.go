package main

import (
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/backend/policy"
	"github.com/turnspec/turnspec/adapters/event"
)

// toolFlags bound the tools that agents may call.
type toolFlags struct {
	policy, preset string
}

func (f *toolFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.policy, "policy", "", "a policy file for tools: 'go doc ./adapters/backend/policy Load' lists its keys, and 'turnspec policy' tries it")
	cmd.Flags().StringVar(&f.preset, "tool-preset", string(policy.Full), "tools that may run: full, read-only, no-bash or safe-edit")
	completeFlag(cmd, "tool-preset", func() []string { return texts(policy.Presets()) })
}

// judge returns the judge of the flags, or nil if they bound nothing.
func (f toolFlags) judge() (adapters.Judge, error) {
	preset := policy.Preset(f.preset)
	if !slices.Contains(policy.Presets(), preset) {
		return nil, fmt.Errorf("--tool-preset %q: use one of %v", f.preset, policy.Presets())
	}
	if f.policy == "" {
		return judgeOf(preset), nil
	}
	p, err := loadPolicy(f.policy)
	if err != nil {
		return nil, fmt.Errorf("--policy: %w", err)
	}
	return atHome(p).And(judgeOf(preset)), nil
}

// read returns the judge of a policy in a request.
func (toolFlags) read(text event.Raw) (adapters.Judge, error) {
	p, err := policy.Load("policy", text)
	if err != nil {
		return nil, err
	}
	return atHome(p), nil
}

// atHome returns the judge of a policy for calls of runtimes with the home of this program.
func atHome(p policy.Policy) adapters.Judge {
	p.Home, _ = os.UserHomeDir() // without a home, ~ is an unknown place
	return p.Judge()
}

// judgeOf returns the judge of a preset, or nil for the one that bounds nothing.
func judgeOf(p policy.Preset) adapters.Judge {
	if p == policy.Full {
		return nil
	}
	return p.Judge()
}
