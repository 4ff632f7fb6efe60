package drift

import (
	"fmt"
	"io"
	"strings"

	"github.com/turnspec/turnspec/conformance/report/table"
)

// levels are sorted by importance.
var levels = []struct {
	level Level
	title string
}{
	{LevelRun, "Could not be run"},
	{LevelChecks, "Checks that fail now"},
	{LevelEvents, "Events that differ"},
	{LevelWire, "The wire"},
	{LevelSchema, "What the runtime declares"},
}

// Summary returns the result in one sentence.
func (r *Report) Summary() string {
	per := map[Level]int{}
	for _, c := range r.Changes {
		per[c.Level]++
	}
	return fmt.Sprintf("%s %s → %s: %s. Of %s, %d have the same events; %s in the wire, %s in the schema, %s, %d could not be run.",
		r.Runtime, r.From, r.To, r.Verdict, countNoun(r.Scenarios, "scenario"), r.Same,
		countNoun(per[LevelWire], "change"), countNoun(per[LevelSchema], "change"), countNoun(per[LevelChecks], "failing check"), per[LevelRun])
}

// Text writes the report for a terminal. With all, it lists all findings of the
// schema and writes whole diffs.
func (r *Report) Text(w io.Writer, all bool) error {
	p := table.New(w)
	p.Printf("%s\n", r.Summary())
	for _, l := range levels {
		found := r.changesAt(l.level)
		if len(found) == 0 {
			continue
		}
		p.Printf("\n%s (%d)\n", l.title, len(found))
		if l.level == LevelSchema && !all {
			for _, s := range []Sort{Added, Gone, Changed} {
				writeCounts(p, s, found)
			}
			p.Printf("  --all lists them\n")
			continue
		}
		for _, c := range found {
			p.Printf("  %-9s %s%s\n", c.Sort, c.What, changeDetails(c, all))
			if c.Diff != "" && all {
				p.Printf("%s", indentLines(c.Diff, "    "))
			}
		}
	}
	return p.Err()
}

// Markdown writes the report for a pull request.
func (r *Report) Markdown(w io.Writer) error {
	p := table.New(w)
	p.Printf("### Drift: %s %s → %s: %s\n\n%s\n", r.Runtime, r.From, r.To, r.Verdict, r.Summary())
	for _, l := range levels {
		found := r.changesAt(l.level)
		if len(found) == 0 {
			continue
		}
		p.Printf("\n<details%s><summary>%s (%d)</summary>\n\n", map[bool]string{true: " open"}[l.level == LevelRun || l.level == LevelChecks], l.title, len(found))
		for _, c := range found {
			p.Printf("- %s `%s`%s\n", c.Sort, c.What, changeDetails(c, false))
		}
		p.Printf("\n</details>\n")
	}
	return p.Err()
}

func (r *Report) changesAt(l Level) []Change {
	var out []Change
	for _, c := range r.Changes {
		if c.Level == l {
			out = append(out, c)
		}
	}
	return out
}

// writeCounts counts the changes of a sort by what they affect.
func writeCounts(p *table.Writer, s Sort, found []Change) {
	per := map[string]int{}
	for _, c := range found {
		if c.Sort == s {
			kind, _, _ := strings.Cut(c.What, " ")
			per[kind]++
		}
	}
	var parts []string
	for _, k := range sortedKeys(per, nil) {
		parts = append(parts, countNoun(per[k], k))
	}
	if len(parts) > 0 {
		p.Printf("  %-9s %s\n", s, strings.Join(parts, ", "))
	}
}

// changeDetails returns the details of a change.
func changeDetails(c Change, all bool) string {
	var s string
	if c.Detail != "" {
		s = ": " + c.Detail
		if first, _, more := strings.Cut(s, "\n"); more && !all {
			s = first + " …"
		}
	}
	if c.Chance {
		s += ", perhaps by chance"
	}
	if n := len(c.Where); n > 0 {
		s += " (" + strings.Join(c.Where[:min(n, 3)], ", ")
		if n > 3 {
			s += fmt.Sprintf(" and %d more", n-3)
		}
		s += ")"
	}
	return s
}

func indentLines(s, by string) string {
	var b strings.Builder
	for line := range strings.Lines(s) {
		b.WriteString(by + line)
	}
	return b.String()
}
