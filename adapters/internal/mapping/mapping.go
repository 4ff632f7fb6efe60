// Package mapping builds the tables that adapters return from Mapping.
package mapping

import "github.com/turnspec/turnspec/adapters"

// Mapped returns entries for names that become the same events.
func Mapped(kind, event string, names ...string) []adapters.Mapped {
	return entries(adapters.Mapped{Kind: kind, Event: event}, names)
}

// Ignored returns entries for names that are ignored for the same reason.
func Ignored(kind, reason string, names ...string) []adapters.Mapped {
	return entries(adapters.Mapped{Kind: kind, Ignored: reason}, names)
}

func entries(m adapters.Mapped, names []string) []adapters.Mapped {
	var out []adapters.Mapped
	for _, m.Name = range names {
		out = append(out, m)
	}
	return out
}
