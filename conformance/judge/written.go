package judge

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fakes/standin"
	"github.com/turnspec/turnspec/fixtures"
)

// written is the other side of the wire: with what the subject started each
// process, and all that it wrote to it and when. Behind that stand the acts that
// failed, and why.
func written(r *conformance.Run) string {
	var b strings.Builder
	for _, s := range r.Started {
		argv := slices.Clone(s.Argv)
		argv[0] = strings.TrimSuffix(filepath.Base(argv[0]), ".exe") // where it lies is this machine's affair
		line, _ := json.Marshal(argv, conformance.CanonicalJSON)     // strings always encode
		fmt.Fprintf(&b, "%d start %s", s.Process, line)
		for _, e := range s.Env {
			if !slices.Contains(r.GivenEnv, e) {
				fmt.Fprintf(&b, " %q", e)
			}
		}
		b.WriteByte('\n')
		for _, w := range r.ClientActions {
			if w.Process == s.Process && s.Process != 0 {
				fmt.Fprintf(&b, "%d %s %s\n", w.Process, w.At.Sub(r.Start).Round(time.Microsecond), lineOrSign(w))
			}
		}
	}
	for _, a := range r.Steps {
		if a.Err != nil {
			fmt.Fprintf(&b, "%s: %v\n", named(a.Step), a.Err)
		}
	}
	return b.String()
}

// lineOrSign is a line, or what else was done to a process: its stdin was closed,
// a signal was sent.
func lineOrSign(w standin.ClientAction) string {
	if w.Bytes != nil {
		return string(w.Bytes)
	}
	return strings.TrimSpace(string(w.Kind) + " " + w.Method)
}

// named is an act in a few words.
func named(a fixtures.Step) string {
	return strings.Join(strings.Fields(string(a.Verb)+" "+a.What+" "+a.ID), " ")
}
