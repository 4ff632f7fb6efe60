package drift

import (
	"fmt"
	"io"
	"strings"
)

// levels are in the order of what matters.
var levels = []struct {
	level Level
	title string
}{
	{LevelRun, "Could not be run"},
	{LevelChecks, "Checks that fail now"},
	{LevelEvents, "How events differ"},
	{LevelWire, "The wire"},
	{LevelSchema, "What the runtime declares"},
}

// Summary is the answer in a sentence.
func (r *Report) Summary() string {
	per := map[Level]int{}
	for _, c := range r.Changes {
		per[c.Level]++
	}
	return fmt.Sprintf("%s %s → %s: %s. Of %s, %d give the same events; %s in the wire, %s in the schema, %s, %d could not be run.",
		r.Runtime, r.From, r.To, r.Verdict, count(r.Scenarios, "scenario"), r.Same,
		count(per[LevelWire], "change"), count(per[LevelSchema], "change"), count(per[LevelChecks], "failing check"), per[LevelRun])
}

// Text writes the report for a terminal; all: with every finding of the schema,
// and differences whole.
func (r *Report) Text(w io.Writer, all bool) error {
	p := &printer{w: w}
	p.printf("%s\n", r.Summary())
	for _, l := range levels {
		found := r.at(l.level)
		if len(found) == 0 {
			continue
		}
		p.printf("\n%s (%d)\n", l.title, len(found))
		if l.level == LevelSchema && !all {
			for _, s := range []Sort{Added, Gone, Changed} {
				p.summary(s, found)
			}
			p.printf("  --all lists them\n")
			continue
		}
		for _, c := range found {
			p.printf("  %-9s %s%s\n", c.Sort, c.What, tail(c, all))
			if c.Diff != "" && all {
				p.printf("%s", indent(c.Diff, "    "))
			}
		}
	}
	return p.err
}

// Markdown writes the report for a pull request.
func (r *Report) Markdown(w io.Writer) error {
	p := &printer{w: w}
	p.printf("### Drift: %s %s → %s: %s\n\n%s\n", r.Runtime, r.From, r.To, r.Verdict, r.Summary())
	for _, l := range levels {
		found := r.at(l.level)
		if len(found) == 0 {
			continue
		}
		p.printf("\n<details%s><summary>%s (%d)</summary>\n\n", map[bool]string{true: " open"}[l.level == LevelRun || l.level == LevelChecks], l.title, len(found))
		for _, c := range found {
			p.printf("- %s `%s`%s\n", c.Sort, c.What, tail(c, false))
		}
		p.printf("\n</details>\n")
	}
	return p.err
}

func (r *Report) at(l Level) []Change {
	var out []Change
	for _, c := range r.Changes {
		if c.Level == l {
			out = append(out, c)
		}
	}
	return out
}

type printer struct {
	w   io.Writer
	err error
}

func (p *printer) printf(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format, args...)
	}
}

// summary counts findings by what they are about.
func (p *printer) summary(s Sort, found []Change) {
	per := map[string]int{}
	for _, c := range found {
		if c.Sort == s {
			kind, _, _ := strings.Cut(c.What, " ")
			per[kind]++
		}
	}
	var parts []string
	for _, k := range keys(per, nil) {
		parts = append(parts, count(per[k], k))
	}
	if len(parts) > 0 {
		p.printf("  %-9s %s\n", s, strings.Join(parts, ", "))
	}
}

// tail says what else is known of a change.
func tail(c Change, all bool) string {
	var s string
	if c.Detail != "" {
		s = ": " + c.Detail
		if first, _, more := strings.Cut(s, "\n"); more && !all {
			s = first + " …"
		}
	}
	if c.Chance {
		s += ", which may be chance"
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

func indent(s, by string) string {
	var b strings.Builder
	for line := range strings.Lines(s) {
		b.WriteString(by + line)
	}
	return b.String()
}
