package report

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/report/table"
	"github.com/turnspec/turnspec/fakes/fault"
)

// The screen that Console fills.
const (
	screenRows    = 40
	screenColumns = 100
)

// Console writes the failures on one screen, for a reader who sees them for the first
// time: a group for each check, the cause first, with its simplest failure. A run with a
// single failure gets all of it. Then it writes what it left out, with the commands that
// show it, and the summary.
func Console(w io.Writer, d *Document, st Style) error {
	var b, tail strings.Builder
	groups, following := d.checkGroups()
	single := len(groups) == 1 && groups[0].heads == 1
	writeKnown(&tail, d, maxKnown, st)
	if len(groups) > 0 || tail.Len() > 0 {
		tail.WriteByte('\n')
	}
	if next := nextCommands(d, groups, single); next != "" {
		fmt.Fprintf(&tail, "%s\n\n", next)
	}
	fmt.Fprintf(&tail, "%s\n", wrapCounts(Summary(d, st)))
	switch {
	case single:
		writeGroup(&b, d, groups[0].first, d.newPlayFinder(), d.followers(), st)
	case len(groups) > 0:
		writeScreen(&b, d, groups, following, screenRows-countRows(tail.String()), st)
	}
	b.WriteString(tail.String())
	_, err := io.WriteString(w, b.String())
	return err
}

// maxKnown bounds the known failures on the screen.
const maxKnown = 5

// checkGroup holds the failures of a check on a subject.
type checkGroup struct {
	rule    Rule
	subject string
	first   Entry  // the simplest failure
	heads   int    // failures that follow no other
	failed  int    // all failures
	judged  int    // cases with a verdict on the subject
	fails   bool   // it fails the run
	flaky   bool   // no failure was in both tries
	declare string // of first, or of another failure that a declaration settles: see Entry.Declare
}

// label says how bad the failures are.
func (g *checkGroup) label() string {
	switch {
	case g.flaky:
		return "FLAKY"
	case !g.fails:
		return "WARNING"
	}
	return "FAIL"
}

// String returns the check with the number of failures.
func (g *checkGroup) String() string {
	cases := "1 case"
	if g.failed > 1 {
		cases = fmt.Sprintf("%d cases", g.failed)
	}
	return fmt.Sprintf("%s (%s)", g.rule.ID, cases)
}

// checkGroups returns the checks with failures, the cause first: those that fail the run,
// then those that fail on more cases. following are the checks whose failures all follow
// that of another check in the same run.
func (d *Document) checkGroups() (groups, following []checkGroup) {
	type key struct{ check, subject string }
	all := map[key]*checkGroup{}
	var order []key
	find := d.newPlayFinder()
	for _, e := range d.Results {
		k := key{e.Check, e.Subject}
		if all[k] == nil {
			all[k] = &checkGroup{rule: d.findRule(e.Check), subject: e.Subject, flaky: true}
			order = append(order, k)
		}
		g := all[k]
		if conformance.Verdict(e.Verdict).Judged() || e.BadOnce() {
			g.judged++
		}
		if !e.BadOnce() || e.Known != nil {
			continue
		}
		g.declare = cmp.Or(g.declare, e.Declare)
		if g.failed == 0 || compareEffort(find, e, g.first) < 0 {
			g.first = e
		}
		if g.failed++; e.Follows == "" {
			g.heads++
		}
		g.fails = g.fails || d.Fails(e)
		g.flaky = g.flaky && e.Flaky()
	}
	for _, k := range order {
		all[k].declare = cmp.Or(all[k].first.Declare, all[k].declare)
		switch g := *all[k]; {
		case g.failed == 0:
		case g.heads == 0:
			following = append(following, g)
		default:
			groups = append(groups, g)
		}
	}
	slices.SortStableFunc(groups, compareGroups)
	slices.SortStableFunc(following, compareGroups)
	return groups, following
}

// compareGroups orders groups: those that fail the run first, then those that fail on more
// cases without following another check.
func compareGroups(a, b checkGroup) int {
	switch {
	case a.fails == b.fails:
		return cmp.Or(cmp.Compare(b.heads, a.heads), cmp.Compare(b.failed, a.failed))
	case a.fails:
		return -1
	}
	return 1
}

// compareEffort compares how much a reader must understand of two failures: less of one
// that follows no other, of one without a fault, and of the shorter wire.
func compareEffort(find playFinder, a, b Entry) int {
	effort := func(e Entry) (follows, faulted, size int) {
		if e.Follows != "" {
			follows = 1
		}
		if len(e.Problems) > 0 && plainestProblem(e).Fault != nil {
			faulted = 1
		}
		if p := find(e, nil); p != nil {
			for _, l := range p.Wire {
				size += max(l.Size, len(l.Text))
			}
		}
		return follows, faulted, size
	}
	followsA, faultedA, sizeA := effort(a)
	followsB, faultedB, sizeB := effort(b)
	return cmp.Or(cmp.Compare(followsA, followsB), cmp.Compare(faultedA, faultedB), cmp.Compare(sizeA, sizeB))
}

// simplest returns a failure with its plainest problem alone, and this problem.
func simplest(e Entry) (Entry, Problem) {
	if len(e.Problems) == 0 {
		return e, Problem{}
	}
	p := plainestProblem(e)
	e.Problems = []Problem{p}
	return e, p
}

// plainestProblem returns the first problem without a fault, or the first one.
func plainestProblem(e Entry) Problem {
	if i := slices.IndexFunc(e.Problems, func(p Problem) bool { return p.Fault == nil }); i >= 0 {
		return e.Problems[i]
	}
	return e.Problems[0]
}

// writeScreen writes the groups that fit on so many rows, but at least one, and a list of
// the others.
func writeScreen(b *strings.Builder, d *Document, groups, following []checkGroup, rows int, st Style) {
	find, several := d.newPlayFinder(), len(d.Subjects()) > 1
	texts := make([]string, len(groups))
	for i := range groups {
		var one strings.Builder
		writeCheckGroup(&one, d, &groups[i], find, several, st)
		texts[i] = one.String()
	}
	for n := len(groups); n > 0; n-- {
		var screen strings.Builder
		for _, text := range texts[:n] {
			screen.WriteString(text)
		}
		more := "other checks"
		if len(groups)-n == 1 {
			more = "other check"
		}
		writeNames(&screen, fmt.Sprintf("%d %s failed", len(groups)-n, more), groups[n:])
		writeNames(&screen, countChecks(len(following))+" failed only after one of these, in the same run", following)
		if n == 1 || countRows(screen.String()) <= rows {
			b.WriteString(screen.String())
			return
		}
	}
}

// countRows counts the rows that a text takes on the screen.
func countRows(text string) int {
	n := 0
	for line := range strings.Lines(text) {
		n += max(1, (table.Width(strings.TrimSuffix(line, "\n"))+screenColumns-1)/screenColumns)
	}
	return n
}

// maxNames bounds the checks that are listed by name.
const maxNames = 6

func writeNames(b *strings.Builder, title string, groups []checkGroup) {
	if len(groups) == 0 {
		return
	}
	var names []string
	for i := range groups {
		if i == maxNames {
			names = append(names, fmt.Sprintf("and %d more", len(groups)-i))
			break
		}
		names = append(names, groups[i].String())
	}
	fmt.Fprintf(b, "\n%s\n", strings.Join(wrapText(title+": "+strings.Join(names, ", "), screenColumns, 3), "\n"))
}

// writeCheckGroup writes a check and its simplest failure.
func writeCheckGroup(b *strings.Builder, d *Document, g *checkGroup, find playFinder, several bool, st Style) {
	label := st.Dim(g.label())
	if g.fails {
		label = st.Bad(g.label())
	}
	cases := fmt.Sprintf("%d of %d cases", g.failed, g.judged)
	if several {
		cases += ", " + g.subject
	}
	fmt.Fprintf(b, "\n%s %s: %s\n", label, g.rule.ID, cases)
	for _, line := range wrapText(g.rule.Sentence, screenColumns-2, 2) {
		fmt.Fprintf(b, "  %s\n", line)
	}
	e, p := simplest(g.first)
	field := func(name, text string) { fmt.Fprintf(b, "  %s%s\n", st.Dim(fmt.Sprintf("%-9s", name)), text) }
	text := func(name, text string) {
		text, _, _ = strings.Cut(text, "\n")
		for i, line := range wrapText(text, screenColumns-11, 2) {
			if i > 0 {
				name = ""
			}
			field(name, line)
		}
	}
	field("case", e.Case)
	if p.Fault != nil {
		text("fault", describeFault(*p.Fault))
	}
	problem, advice, _ := strings.Cut(cmp.Or(p.textWithoutFault(), e.Reason), "\nnext: ")
	text("problem", problem)
	if advice != "" {
		text("next", advice)
	}
	if want, got, ok := FirstDifference(p.Diff); ok {
		field("expected", want)
		field("got", got)
	}
	if play := cmp.Or(find(e, p.Fault), find(e, nil)); play != nil && p.Fault == nil {
		if line := lastWords(play.Programs); line != "" {
			text("program", line)
		}
	}
	field("rerun", d.Rerun(e))
	if g.declare != "" {
		text("or", "declare that the adapter leaves it out: "+g.declare)
	}
}

// textWithoutFault returns the text without the name of the fault, with which it begins.
func (p Problem) textWithoutFault() string {
	if p.Fault == nil {
		return p.Text
	}
	_, rest, found := strings.Cut(p.Text, ": ")
	if !found || !strings.HasPrefix(p.Text, p.Fault.Operator) {
		return p.Text
	}
	return rest
}

// describeFault names a fault, its place and what it does.
func describeFault(f Fault) string {
	text := conformance.FaultAt{Name: f.Operator, Line: f.Line}.String()
	if op, err := fault.Named(f.Operator); err == nil {
		text += ": " + op.Doc
	}
	return text
}

// lastWords returns the exit of the first program that failed, with the last line of its
// stderr, or only that line.
func lastWords(programs []Program) string {
	for _, p := range programs {
		var parts []string
		// The suite ends a program by a signal, so only an exit code is of the program.
		if strings.HasPrefix(p.Exit, "exit code") && p.Exit != "exit code 0" {
			parts = append(parts, p.Exit)
		}
		lines := strings.Split(strings.TrimSpace(p.Stderr), "\n")
		if last := strings.TrimSpace(lines[len(lines)-1]); last != "" {
			parts = append(parts, "stderr: "+last)
		}
		if len(parts) > 0 {
			return strings.Join(parts, ", ")
		}
	}
	return ""
}

// nothing stands for a line that one side of a difference does not have.
const nothing = "(nothing)"

// FirstDifference returns the first lines in which the sides of a unified diff differ, from
// a little before the place where they do.
func FirstDifference(diff string) (want, got string, ok bool) {
	lines := strings.Split(strings.TrimSuffix(diff, "\n"), "\n")
	from := slices.IndexFunc(lines, func(l string) bool { return isRemoved(l) || isAdded(l) })
	if from < 0 {
		return "", "", false
	}
	wanted, had := "", ""
	hunk := lines[from:]
	if i := slices.IndexFunc(hunk, func(l string) bool { return !isRemoved(l) && !isAdded(l) }); i >= 0 {
		hunk = hunk[:i]
	}
	if i := slices.IndexFunc(hunk, isRemoved); i >= 0 {
		wanted = hunk[i][1:]
	}
	if i := slices.IndexFunc(hunk, isAdded); i >= 0 {
		had = hunk[i][1:]
	}
	want, got = showDifference(wanted, had)
	switch {
	case !slices.ContainsFunc(hunk, isRemoved):
		want = nothing
	case !slices.ContainsFunc(hunk, isAdded):
		got = nothing
	}
	return want, got, true
}

// shared is how much of the text before a difference is shown.
const shared = 30

// showDifference shortens two lines so that the place where they differ fits on the screen.
func showDifference(a, b string) (string, string) {
	x, y := []rune(a), []rune(b)
	same := 0
	for same < len(x) && same < len(y) && x[same] == y[same] {
		same++
	}
	const room = screenColumns - 13 // with quotes
	cut := func(r []rune) string {
		before := ""
		if same > shared && max(len(x), len(y)) > room {
			r, before = r[same-shared:], "…"
		}
		if len(r) > room-1 {
			r = append(r[:room-2:room-2], '…')
		}
		text := before + string(r)
		if text == "" || text != strings.TrimSpace(text) {
			text = `"` + text + `"` // which show spaces
		}
		return text
	}
	return cut(x), cut(y)
}

// wrapText breaks a text into at most n lines of at most width columns.
func wrapText(text string, width, n int) []string {
	var out []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		switch {
		case line == "":
			line = word
		case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) <= width:
			line += " " + word
		default:
			out = append(out, line)
			line = word
		}
	}
	if line != "" {
		out = append(out, line)
	}
	if len(out) > n {
		out = out[:n]
		out[n-1] = strings.TrimRight(out[n-1], ",:;") + " …"
	}
	for i := range out {
		out[i] = clipRunes(out[i], width)
	}
	return out
}

// clipRunes shortens a line to n characters, and shows that it did.
func clipRunes(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}

// htmlCommand returns the file of the HTML report, or the flag that writes one.
func (d *Document) htmlCommand() string { return cmp.Or(d.htmlFile, "--report html=report.html") }

// wrapCounts breaks the first line of a summary between two counts if it is wider than the
// screen. The lines after it hold commands, which stay whole.
func wrapCounts(summary string) string {
	first, rest, several := strings.Cut(summary, "\n")
	var b strings.Builder
	width := 0
	for i, part := range strings.SplitAfter(first, ", ") {
		if i > 0 && width+table.Width(strings.TrimSuffix(part, " ")) > screenColumns {
			b.WriteString("\n  ")
			width = 2
		}
		b.WriteString(part)
		width += table.Width(part)
	}
	out := strings.ReplaceAll(b.String(), " \n", "\n")
	if several {
		out += "\n" + rest
	}
	return out
}

// nextCommands returns the lines that name what Console left out, and what shows it.
func nextCommands(d *Document, groups []checkGroup, single bool) string {
	var unjudged []string
	all := slices.Collect(maps.Values(d.checkWords()))
	for _, w := range []word{wordNotDeclared, wordNotTried} {
		if slices.Contains(all, w) {
			unjudged = append(unjudged, string(w))
		}
	}
	why := ""
	if len(unjudged) > 0 {
		why = "why checks are " + strings.Join(unjudged, " or ")
	}
	type command struct{ name, shows string }
	var commands []command
	switch {
	case len(groups) == 0 && why != "":
		commands = []command{{"--verbose", why}}
	case len(groups) == 0:
		return ""
	case single:
		commands = []command{{"turnspec explain " + groups[0].rule.ID, "what the check demands, and how an adapter is mended"},
			{d.htmlCommand(), "the whole wire, events and chat"}}
		if why != "" {
			commands = append(commands, command{"--verbose", why})
		}
	default:
		verbose := command{"--verbose", "all failures as text"}
		if why != "" {
			verbose.shows += ", and " + why
		}
		commands = []command{{"turnspec explain " + groups[0].rule.ID, "what the check demands, and how an adapter is mended"},
			{"the rerun command", "a failure in full, with the wire around it"},
			{d.htmlCommand(), "all failures, with wire, events and chat"}, verbose}
	}
	if len(commands) > 0 && len(all) > 1 && len(d.Subjects()) == 1 { // for several, the table is printed
		commands = append(commands, command{"--table", "each check"})
	}
	var b strings.Builder
	rows := make([][]string, len(commands))
	for i, c := range commands {
		rows[i] = []string{c.name, "shows " + c.shows}
	}
	table.New(&b).Columns("", rows)
	return strings.TrimSuffix(b.String(), "\n")
}
