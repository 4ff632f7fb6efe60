package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/backend"
	"github.com/turnspec/turnspec/conformance/report/table"
)

// scenarioOf returns the runtime and scenario of a case, without the version.
func scenarioOf(id string) string {
	parts := strings.SplitN(id, "/", 3)
	return parts[0] + "/" + parts[len(parts)-1]
}

// reasonsFile lists why mutants survive.
const reasonsFile = "conformance/lab/mutants/reasons.txt"

// reason is why some mutants survive. The first one that matches a mutant counts.
type reason struct {
	kind, why string
	of        *regexp.Regexp // over keys
}

// kinds are the kinds of reasons and their meaning.
var kinds = []struct{ name, means string }{
	{"equivalent", "the changed code does the same"},
	{"performance", "it does the same, but slower or with more memory"},
	{"defensive", "it guards against what no recorded runtime and no fault does"},
	{"unit", "it concerns the adapter only: its own tests check it"},
	{"gap", "the suite does not check it, or the played cases do not show it"},
}

// parseReasons reads lines of three forms: `kind: why`, indented regular expressions
// over mutant keys below it, and comments.
func parseReasons(text string) ([]reason, error) {
	var out []reason
	var kind, why string
	for i, line := range strings.Split(text, "\n") {
		switch {
		case strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "\t"):
			of, err := regexp.Compile(strings.TrimSpace(line))
			if err != nil || kind == "" {
				return nil, fmt.Errorf("%s:%d: want a regular expression below a line `kind: why`: %w", reasonsFile, i+1, err)
			}
			out = append(out, reason{kind, why, of})
		default:
			kind, why, _ = strings.Cut(line, ": ")
			if !slices.ContainsFunc(kinds, func(k struct{ name, means string }) bool { return k.name == kind }) || why == "" {
				return nil, fmt.Errorf("%s:%d: want `kind: why`, where kind is one of %v", reasonsFile, i+1, kinds)
			}
		}
	}
	return out, nil
}

// reasonOf returns why a mutant survives.
func reasonOf(reasons []reason, m Mutant) (kind, why string) {
	for _, r := range reasons {
		if r.of.MatchString(m.Key()) {
			return r.kind, r.why
		}
	}
	return "", ""
}

// tally counts mutants of one kind.
type tally struct{ all, killed, golden, faults, survived, same, tested, unit, unreached int }

func (t *tally) addOutcome(x Outcome, kind string) {
	t.all++
	switch x.Status {
	case Killed:
		t.killed++
		if x.Faults {
			t.faults++
		}
		if len(x.Checks) > 0 && !slices.ContainsFunc(x.Checks, func(id string) bool { return !goldenTier(id) }) {
			t.golden++
		}
		return
	case Survived:
		t.survived++
	case Unreached:
		t.unreached++
	}
	if x.Tested {
		t.tested++
	}
	if x.Unit {
		t.unit++
	}
	if x.Status == Survived && (kind == "equivalent" || kind == "performance") {
		t.same++
	}
}

// goldenTier reports whether a check is only for the reference adapters.
func goldenTier(id string) bool {
	if strings.HasPrefix(id, "golden.") {
		return true
	}
	named, err := backend.Named(id)
	return err == nil && !slices.ContainsFunc(named[0].Tiers, func(t conformance.Tier) bool { return t != conformance.TierGolden })
}

func percent(n, of int) string {
	if of == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f %%", 100*float64(n)/float64(of))
}

// cells returns the row of a table.
func (t *tally) cells(name string) []string {
	unit := "-"
	if t.tested > 0 {
		unit = strconv.Itoa(t.unit)
	}
	row := []string{name}
	for _, n := range []int{t.all, t.unreached, t.killed, t.golden, t.survived, t.same} {
		row = append(row, strconv.Itoa(n))
	}
	return append(row, unit, percent(t.killed, t.killed+t.survived-t.same))
}

// report writes the figures and the survivors to the file of --results; without one it prints the
// figures.
func (o options) report(out []Outcome, all int) error {
	text, err := os.ReadFile(reasonsFile)
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	reasons, err := parseReasons(string(text))
	if err != nil {
		return err
	}
	var b strings.Builder
	if len(out) < all {
		fmt.Fprintf(&b, "Of %d mutants, %d were tried at random", all, len(out))
		if only := o.only.String(); only != "" {
			fmt.Fprintf(&b, " among those that match `%s`", only)
		}
		fmt.Fprintf(&b, " (`--sample %d --seed %d --cases %d --faulty %d`). A survivor was played to %s without faults, and to %s with them.",
			o.sample, o.seed, o.cases, o.faulty, upTo(o.cases), upTo(o.faulty))
	}
	sections := figures(out, reasons)
	sections[0].Text = b.String()
	if o.results == "" {
		w := table.New(os.Stdout)
		w.Sections(sections)
		return w.Err()
	}
	var results bytes.Buffer
	if err := table.WriteJSON(&results, append(sections, survivors(out, reasons)...)); err != nil {
		return err
	}
	return os.WriteFile(filepath.FromSlash(o.results), results.Bytes(), 0o644)
}

// figures returns the tables by package and by operator.
func figures(out []Outcome, reasons []reason) (tables []table.Section) {
	for _, by := range []struct {
		title string
		of    func(Outcome) string
	}{
		{"package", func(x Outcome) string { return x.Package }},
		{"operator", func(x Outcome) string { return x.Operator }},
	} {
		sums, names := map[string]*tally{}, []string{}
		var total tally
		for _, x := range out {
			name := by.of(x)
			if sums[name] == nil {
				sums[name] = &tally{}
				names = append(names, name)
			}
			kind, _ := reasonOf(reasons, x.Mutant)
			sums[name].addOutcome(x, kind)
			total.addOutcome(x, kind)
		}
		slices.Sort(names)
		head := []string{by.title}
		for _, name := range []string{"mutants", "unreached", "killed", "by goldens only", "survived", "of them the same", "unit tests kill", "killed of reached"} {
			head = append(head, table.Align+name)
		}
		var rows [][]string
		for _, name := range names {
			rows = append(rows, sums[name].cells(name))
		}
		tables = append(tables, table.Section{Head: head, Rows: append(rows, total.cells("all"))})
	}
	return tables
}

// survivors lists the survivors by reason, those without a reason last.
func survivors(out []Outcome, reasons []reason) (sections []table.Section) {
	type group struct{ kind, why string }
	found := map[group][]Outcome{}
	var order []group
	for _, x := range out {
		if x.Status != Survived {
			continue
		}
		kind, why := reasonOf(reasons, x.Mutant)
		if kind == "" && x.Unit {
			kind, why = "unit", "the adapters' own tests kill it"
		}
		g := group{kind, why}
		if found[g] == nil {
			order = append(order, g)
		}
		found[g] = append(found[g], x)
	}
	rank := func(g group) int {
		return slices.IndexFunc(kinds, func(k struct{ name, means string }) bool { return k.name == g.kind })
	}
	slices.SortStableFunc(order, func(a, b group) int {
		return (rank(a)+len(kinds)+1)%(len(kinds)+1) - (rank(b)+len(kinds)+1)%(len(kinds)+1)
	})
	last := "none"
	for _, g := range order {
		if g.kind != last {
			last = g.kind
			title, means := "Not explained", "no reason is given why they survive"
			if i := rank(g); i >= 0 {
				title, means = strings.ToUpper(g.kind[:1])+g.kind[1:], kinds[i].means
			}
			sections = append(sections, table.Section{Title: "## " + title, Text: "Here " + means + "."})
		}
		s := table.Section{Head: []string{"file", "function", "operator", "code", ""}}
		if g.why != "" {
			s.Title = "### " + strings.ToUpper(g.why[:1]) + g.why[1:]
		}
		for _, x := range found[g] {
			unit := ""
			if x.Unit {
				unit = "a unit test kills it"
			}
			code := "`" + strings.ReplaceAll(x.Text, "`", "'") + "`"
			s.Rows = append(s.Rows, []string{strings.TrimPrefix(x.File, "adapters/"), "`" + x.Func + "`", x.Operator, table.Cell(code), unit})
		}
		sections = append(sections, s)
	}
	return sections
}

// upTo says how many cases a mutant is played to.
func upTo(cases int) string {
	if cases == 0 {
		return "all cases that reach it"
	}
	return fmt.Sprintf("up to %d cases", cases)
}
