package main

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/checks"
	"github.com/turnspec/turnspec/conformance/judge"
	"github.com/turnspec/turnspec/conformance/plug/jsonl"
	"github.com/turnspec/turnspec/conformance/report"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/wire"
)

func debugCmd() *cobra.Command {
	var f subjectFlags
	var limit time.Duration
	cmd := &cobra.Command{
		Use:   "debug CASE --runtime RUNTIME -- CMD [ARG…]",
		Short: "Step through one case: the wire beside the events of your adapter",
		Long: `Debug replays one case to your adapter and then steps through what happened. For each
step of the client it shows, in the order of time, what the runtime and the adapter write
to each other, shortened, and the events of the adapter. ` + "`turnspec show CASE`" + ` prints the
runtime's lines whole. After the last step it prints where the recording and the adapter
part, if the adapter does what the recorded client did not, and the checks that fail.
CASE may be a file, such as ` + "`turnspec import`" + ` writes.

On a terminal it waits after each step: enter or n goes to the next one, c continues to
the end, q quits (each with enter). Elsewhere it prints all steps.

--subject, --dialect and a command after -- choose the adapter as in ` + "`turnspec run`" + `. The
program is started as by ` + "`turnspec smoke`" + `, which prints the lines between turnspec and the
program.

Exit codes: 0 every check passed, 1 a check failed, 2 wrong use or no connection.`,
		Example: `  turnspec debug permission/allow --runtime claude -- python3 my_adapter.py
  turnspec debug claude/2.1.197/text/plain --runtime claude -- python3 my_adapter.py
  turnspec debug text/plain --runtime claude --dialect my.json -- python3 my_adapter.py
  turnspec debug text/plain --runtime claude --subject http://127.0.0.1:0 -- node server.js`,
		Args: func(cmd *cobra.Command, args []string) error {
			usage := errors.New("give a case and, after --, the command that starts your adapter: turnspec debug text/plain --runtime claude -- python3 my_adapter.py")
			if n := cmd.ArgsLenAtDash(); len(args) == 0 || n == 0 || n > 1 || n < 0 && len(args) > 1 {
				return usage
			}
			if err := f.parse(cmd, args[1:], cmd.ArgsLenAtDash() == 1); err != nil {
				return err
			}
			if f.kind == kindNone {
				return usage
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			corpus, id := fixtures.Embedded(), args[0]
			if isCaseFile(id) {
				one, err := openCaseFile(corpus, id)
				if err != nil {
					return err
				}
				defer one.remove()
				corpus, id = one.Corpus, one.id
			}
			rec, err := f.recording(corpus, id)
			if err != nil {
				return err
			}
			s, err := f.subject(nil)
			if err != nil {
				return err
			}
			ctx, stop := interruptible(cmd)
			defer stop()
			r, err := smokeTest(ctx, s, rec, limit)
			if err != nil {
				return err
			}
			return stepThrough(cmd.OutOrStdout(), keys(cmd.InOrStdin(), cmd.OutOrStdout()), r)
		},
	}
	cmd.Flags().StringVar(&f.runtime, "runtime", "", "the runtime that the program wraps: "+strings.Join(runtimeNames(), ", ")+"; with a version: claude@2.1.197")
	f.declare(cmd)
	startLimitFlag(cmd, &limit)
	completeFlag(cmd, "runtime", runtimeNames)
	cmd.ValidArgsFunction = func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveDefault
		}
		return caseIDs(), cobra.ShellCompDirectiveNoFileComp
	}
	return cmd
}

// stepThrough prints the steps of a run and the checks that fail on it. After each step next
// returns what to do: 'n', 'c' or 'q'.
func stepThrough(out io.Writer, next func() byte, r *conformance.Run) error {
	if err := jsonl.Ended(r); err != nil && len(r.Played)+len(r.ClientActions) == 0 {
		return fmt.Errorf("the runtime was not started: %w%s", err, programOutput(r, err))
	}
	st, width := styleOf(out), min(terminalWidth(out), widestRow)
	fmt.Fprintf(out, "%s: %s\n", r.Case.ID, r.Scenario.Intent)
	all := debugSteps(r)
	walk := true
	for i, s := range all {
		fmt.Fprintf(out, "\nstep %d of %d: %s\n", i+1, len(all), s.title)
		for _, row := range s.rows {
			fmt.Fprintln(out, row.line(st, width))
		}
		if walk && i < len(all)-1 {
			switch next() {
			case 'q':
				return nil
			case 'c':
				walk = false
			}
		}
	}
	fmt.Fprintln(out)
	for _, line := range parting(r) {
		fmt.Fprintln(out, clipColumns(line, width))
	}
	failed := false
	for _, c := range checks.All() {
		if !slices.Contains(c.Tiers, conformance.TierWitness) || c.Judge == nil || r.Case.NoWitness && !isLaw(c) {
			continue
		}
		res := judge.Apply(c, &conformance.Trial{Run: r}, conformance.TierProcess)
		if !res.Verdict.Bad() {
			continue
		}
		failed = failed || c.Severity == conformance.Must
		fmt.Fprintf(out, "%s %s: %s\n", st.Bad("FAIL"), c.ID, firstProblem(res))
		if len(res.Problems) > 0 {
			if want, got, ok := report.FirstDifference(res.Problems[0].Diff); ok {
				fmt.Fprintf(out, "  %s %s\n  %s      %s\n", st.Dim("expected"), want, st.Dim("got"), got)
			}
		}
	}
	if err := jsonl.Ended(r); err != nil {
		fmt.Fprintf(out, "%s end\n%s\n", st.Bad("FAIL"), indent(err.Error()+programOutput(r, err)))
		failed = true
	}
	if failed {
		return errFailed
	}
	fmt.Fprintln(out, "no check fails on this case without a fault")
	return nil
}

// isLaw reports whether a check holds for any recording.
func isLaw(c *conformance.Check) bool {
	return slices.ContainsFunc(lawChecks, func(name string) bool { return among(name, []*conformance.Check{c}) })
}

// parting returns where the recording and the adapter part: the line of the recorded client
// that was not reached, and what the adapter did instead. It is empty if they do not.
func parting(r *conformance.Run) []string {
	did := r.Unrecorded
	reached := map[int]bool{} // the lines of the recording; the end of its input may come before what it lacks
	for _, p := range r.Played {
		reached[p.Line.Line] = true
	}
	var next *fixtures.WireLine
	for i, l := range r.Case.Lines() {
		w := &r.Case.Wire[i]
		if reached[w.Line] || w.Dir != fixtures.In {
			continue
		}
		if slices.Contains([]wire.Kind{wire.Send, wire.Stop, wire.Answer}, l.Kind) { // not every client reads and sets the same
			next = w
			break
		}
	}
	if next == nil && len(did) == 0 {
		return nil
	}
	where, want := "after the last line of its client", ""
	if next != nil {
		kind, text := summarizeLine(next.Bytes)
		where, want = fmt.Sprintf("at %s:%d", r.Case.File, next.Line), strings.TrimSpace(kind+" "+text)
	}
	out := []string{"the recording and the adapter part " + where}
	if want != "" {
		out = append(out, "  the recorded client writes: "+want)
	}
	if len(did) == 0 {
		return append(out, "  the adapter does not")
	}
	return append(out, "  the adapter: "+conformance.Printable(did[0]))
}

// debugStep is a step of the client and what happened from its begin to the next step.
type debugStep struct {
	title string
	rows  []debugRow
}

// Who wrote the text of a row.
const (
	rowRuntime = "runtime"
	rowAdapter = "adapter"
	rowEvent   = "event"
)

// debugRow is a line of the wire, or an event.
type debugRow struct {
	at   time.Duration
	who  string
	kind string // what it is
	text string // what it holds
}

// widestRow is how many columns a row takes where there is no terminal.
const widestRow = 240

// line returns the row, without what is wider than the terminal. Events are not dim.
func (r debugRow) line(st report.Style, width int) string {
	head, kind := fmt.Sprintf("%7.3f  %-7s  ", r.at.Seconds(), r.who), r.kind
	text := clipColumns(strings.TrimSpace(kind+" "+r.text), width-len(head))
	if r.who != rowEvent {
		return st.Dim(head + text)
	}
	if rest, whole := strings.CutPrefix(text, kind); whole {
		return st.Dim(head) + st.Good(kind) + rest
	}
	return st.Dim(head) + text
}

// debugSteps returns the steps of a run with the lines and events of each.
func debugSteps(r *conformance.Run) []debugStep {
	rows := make([]debugRow, 0, len(r.Played)+len(r.ClientActions)+len(r.Events))
	for _, p := range r.Played {
		if row, shown := playedRow(p.Line); shown {
			row.at = p.At
			rows = append(rows, row)
		}
	}
	for _, a := range r.ClientActions {
		row := debugRow{kind: strings.TrimSpace(string(a.Kind) + " " + a.Method)}
		if len(a.Bytes) > 0 {
			row.kind, row.text = summarizeLine(a.Bytes)
		}
		row.at, row.who = a.At.Sub(r.Began), rowAdapter
		rows = append(rows, row)
	}
	for _, e := range r.Events {
		b, err := json.Marshal(e.Data)
		text := string(b)
		if err != nil {
			text = err.Error()
		}
		rows = append(rows, debugRow{e.At, rowEvent, string(e.Type()), conformance.Printable(text)})
	}
	slices.SortStableFunc(rows, func(a, b debugRow) int { return cmp.Compare(a.at, b.at) })
	var out []debugStep
	for i, s := range r.Steps {
		step := debugStep{title: jsonl.Trace(&conformance.Run{Steps: r.Steps[i : i+1]})[0].Name}
		if s.Err != nil {
			step.title += ": " + firstLine(s.Err.Error())
		}
		n := len(rows)
		if i+1 < len(r.Steps) {
			n = slices.IndexFunc(rows, func(row debugRow) bool { return row.at >= r.Steps[i+1].At })
			if n < 0 {
				n = len(rows)
			}
		}
		step.rows, rows = rows[:n], rows[n:]
		out = append(out, step)
	}
	return out
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// playedRow returns the row of a line that the stand-in played. It is not shown if it came
// from the adapter.
func playedRow(w fixtures.WireLine) (row debugRow, shown bool) {
	row.who = rowRuntime
	switch w.Dir {
	case fixtures.Out:
		row.kind, row.text = summarizeLine(w.Bytes)
	case fixtures.Err:
		row.kind, row.text = "stderr:", conformance.Printable(string(w.Bytes))
	case fixtures.Exit:
		row.kind = strings.TrimSpace(fmt.Sprintf("the process ends with code %d %s", w.Code, w.Signal))
	default:
		return row, false
	}
	return row, true
}

// summarizeLine returns what a line of JSON is, the values of its members type, subtype and
// method, and what it holds: its other values, without ids, by the names of their members.
// Of another line, text is all of it.
func summarizeLine(line []byte) (kind, text string) {
	var kinds, values []string
	size := 0
	d := jsontext.NewDecoder(bytes.NewReader(line), jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
	for size < widestRow {
		token, err := d.ReadToken()
		if err == io.EOF && len(kinds)+len(values) > 0 { //nolint:errorlint // the decoder returns it as it is
			break
		}
		if err != nil {
			return "", conformance.Printable(string(line))
		}
		switch token.Kind() {
		case '{', '[', '}', ']', 'n':
			continue
		}
		value := token.String()
		within, n := d.StackIndex(d.StackDepth())
		if within == '{' && n%2 == 1 {
			continue // the name of a member
		}
		path := string(d.StackPointer())
		name := path[strings.LastIndexByte(path, '/')+1:]
		switch lower := strings.ToLower(name); {
		case lower == "type" || lower == "subtype" || lower == "method":
			kinds = append(kinds, value)
			continue
		case strings.HasSuffix(lower, "id") || value == "":
			continue
		}
		if token.Kind() == '"' {
			value = strconv.Quote(value)
		}
		if within == '{' { // an element of an array has no name
			value = name + "=" + value
		}
		values = append(values, value)
		size += len(value) + 1
	}
	return conformance.Printable(strings.Join(kinds, " ")), conformance.Printable(strings.Join(values, " "))
}

// keys returns a function that waits for a key, if in and out are a terminal. Else it
// returns 'c' at once. The end of input counts as 'q'.
func keys(in io.Reader, out io.Writer) func() byte {
	if !isTerminal(in) || !isTerminal(out) {
		return func() byte { return 'c' }
	}
	lines := bufio.NewReader(in)
	return func() byte { return readKey(lines, out) }
}

// readKey asks until a line is a key.
func readKey(lines *bufio.Reader, out io.Writer) byte {
	for {
		fmt.Fprint(out, "next (n, enter), continue (c), quit (q)? ")
		line, err := lines.ReadString('\n')
		switch strings.TrimSpace(line) {
		case "", "n":
			if err == nil {
				return 'n'
			}
		case "c":
			return 'c'
		case "q":
			return 'q'
		}
		if err != nil {
			return 'q'
		}
	}
}
