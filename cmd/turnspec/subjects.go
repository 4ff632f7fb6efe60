package main

import (
	"fmt"
	"strings"

	"github.com/turnspec/turnspec/adapters/claude"
	"github.com/turnspec/turnspec/adapters/codex"
	"github.com/turnspec/turnspec/conformance"
)

// references are the reference adapters, one a runtime; runtime "" is all.
func references(runtime string) ([]conformance.Subject, error) {
	all := []conformance.Subject{conformance.Adapter("codex", codex.New()), conformance.Adapter("claude", claude.New())}
	if runtime == "" {
		return all, nil
	}
	var names []string
	for _, s := range all {
		if s.Runtime() == runtime {
			return []conformance.Subject{s}, nil
		}
		names = append(names, s.Runtime())
	}
	return nil, fmt.Errorf("no reference adapter for runtime %q, only for %s", runtime, strings.Join(names, ", "))
}
