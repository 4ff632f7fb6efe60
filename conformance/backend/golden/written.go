package golden

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fakes/standin"
	"github.com/turnspec/turnspec/fixtures/steps"
)

// renderWritten renders the command of each process that the subject started and
// the lines that it wrote, with their times, and then the steps that failed.
func renderWritten(r *conformance.Run) string {
	var b strings.Builder
	tmp := filepath.Clean(os.TempDir()) + string(filepath.Separator)
	for _, s := range r.Started {
		argv := slices.Clone(s.Argv)
		argv[0] = strings.TrimSuffix(filepath.Base(argv[0]), ".exe") // its folder differs between machines
		for i, a := range argv {
			if before, rest, ok := strings.Cut(a, tmp); ok { // in a folder whose name depends on the machine and on chance
				path, after, quoted := strings.Cut(rest, `"`)
				argv[i] = before + "<tmp>/" + filepath.Base(path)
				if quoted {
					argv[i] += `"` + after
				}
			}
		}
		line, _ := json.Marshal(argv, conformance.CanonicalJSON) // strings always encode
		fmt.Fprintf(&b, "%d start %s", s.Process, line)
		for _, e := range s.Env {
			if !slices.Contains(r.GivenEnv, e) {
				fmt.Fprintf(&b, " %q", e)
			}
		}
		b.WriteByte('\n')
		for _, w := range r.ClientActions {
			if w.Process == s.Process && s.Process != 0 {
				fmt.Fprintf(&b, "%d %s %s\n", w.Process, w.At.Sub(r.Start).Round(time.Microsecond), renderAction(w))
			}
		}
	}
	for _, a := range r.Steps {
		if a.Err != nil {
			fmt.Fprintf(&b, "%s: %v\n", steps.String(a.Step), a.Err)
		}
	}
	return b.String()
}

// renderAction renders a written line, a closed stdin or a signal.
func renderAction(w standin.ClientAction) string {
	if w.Bytes != nil {
		return string(w.Bytes)
	}
	return strings.TrimSpace(string(w.Kind) + " " + w.Method)
}
