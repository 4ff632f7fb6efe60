package checks

import "slices"

// Alias is an id of the catalogue whose rule others judge.
type Alias struct {
	ID  string
	By  []string // the checks that judge it
	Why string
}

// Aliases are the ids of the catalogue that are no checks of their own.
func Aliases() []Alias {
	return []Alias{
		{"session.ready-once-per-open", []string{"session.ready-first", "session.provider-id"},
			"They count session_ready against what was opened, also where the runtime repeats its init each turn, and compare its id."},
		{"text.fallback", []string{"text.once"}, "It holds for a text that comes whole as for one that comes in deltas: once."},
		{"wire.both-prefixes", []string{"thinking.delivered", "tool.output"}, "The cases of the older versions hold the older names."},
		{"time.limits", []string{"process.start-failure", "turn.stall-ends", "turn.stop", "turn.crash-ends"},
			"Each is judged in virtual time, with a limit of its own."},
	}
}

// AliasOf returns the alias of that id.
func AliasOf(id string) (Alias, bool) {
	all := Aliases()
	i := slices.IndexFunc(all, func(a Alias) bool { return a.ID == id })
	if i < 0 {
		return Alias{}, false
	}
	return all[i], true
}
