package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/turnspec/turnspec/conformance"
)

// WriteKnown writes a file of known failures for the failures that are not known
// yet: an entry for each check, with a reason that the reader has to write.
func WriteKnown(w io.Writer, d *Document) error {
	type key struct {
		check, subject string
		flaky          bool
	}
	var order []key
	cases := map[key][]string{}
	first := map[key]string{}
	subjects := map[string]bool{}
	for _, r := range d.Results {
		subjects[r.Subject] = true
		if !r.BadOnce() || r.Known != nil {
			continue
		}
		k := key{r.Check, r.Subject, r.Flaky()}
		if cases[k] == nil {
			order = append(order, k)
			if len(r.Problems) > 0 {
				first[k] = r.Problems[0].Text
			}
		}
		if !slices.Contains(cases[k], r.Case) { // a check may run in several tiers
			cases[k] = append(cases[k], r.Case)
		}
	}
	var b strings.Builder
	b.WriteString("# Known failures do not fail the run. An entry that no longer fails does: remove it then.\n# Write why each one fails, and until when. `case` may be a glob.\n")
	for _, k := range order {
		b.WriteByte('\n')
		if first[k] != "" {
			line, _, _ := strings.Cut(first[k], "\n")
			fmt.Fprintf(&b, "# %s\n", clipLine(line, 200))
		}
		fmt.Fprintf(&b, "check: %s\n", k.check)
		if len(subjects) > 1 {
			fmt.Fprintf(&b, "subject: %s\n", k.subject)
		}
		for _, id := range cases[k] {
			fmt.Fprintf(&b, "case: %s\n", id)
		}
		if k.flaky {
			b.WriteString("flaky: yes\n")
		}
		fmt.Fprintf(&b, "reason: %s\n", conformance.KnownFailureTodo)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
