package message

import (
	"cmp"

	"github.com/turnspec/turnspec/adapters"
)

// modes are the names of permission modes that messages and commands have, with those of
// adapters.
var modes = map[string]string{
	"bypassPermissions": adapters.ModeNever,
	"default":           adapters.ModeAsk,
	"acceptEdits":       adapters.ModeAcceptEdits,
	"plan":              adapters.ModePlan,
	"dontAsk":           adapters.ModeDontAsk,
}

// Mode returns the mode of an adapter that a name of a command stands for.
func Mode(name string) string { return cmp.Or(modes[name], name) }

// modeName returns the name that messages have for a mode of an adapter.
func modeName(mode string) string {
	for name, m := range modes {
		if m == mode {
			return name
		}
	}
	return mode
}
