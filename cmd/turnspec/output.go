package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/report"
)

// output holds the flags for the output of a run or a merge.
type output struct {
	json, verbose bool
	table         string // auto, true or false
	reports       []string
}

// summaryVariable names the file that GitHub displays as the summary of a job.
const summaryVariable = "GITHUB_STEP_SUMMARY"

func (o *output) flags(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.BoolVar(&o.json, "json", false, "print JSON")
	fl.BoolVarP(&o.verbose, "verbose", "v", false, "print each verdict, each failure in full, and why there is no verdict")
	fl.StringVar(&o.table, "table", "auto", "print a table of the checks: true, false, or auto, which prints it for several subjects")
	fl.Lookup("table").NoOptDefVal = "true"
	completeFlag(cmd, "table", func() []string { return tableChoices })
	fl.StringArrayVar(&o.reports, "report", nil, "write a report, FORMAT=FILE: "+strings.Join(report.Formats(), ", ")+
		"; github alone appends the Markdown to the summary of the job (again for more)")
	completeFlag(cmd, "report", func() []string {
		out := []string{"github"}
		for _, f := range report.Formats() {
			out = append(out, f+"=")
		}
		return out
	})
}

// tableChoices are the values of --table.
var tableChoices = []string{"auto", "true", "false"}

// target is a report to write.
type target struct {
	name   string // of the format; "": the summary of a job
	file   string
	add    bool // append to the file
	format report.Writer
}

// targets returns the reports to write. It fails, before the run, if one cannot be
// written, or if --table is wrong.
func (o *output) targets() ([]target, error) {
	if !slices.Contains(tableChoices, o.table) {
		return nil, fmt.Errorf("--table=%s: want one of %s", o.table, strings.Join(tableChoices, ", "))
	}
	var out []target
	for _, text := range o.reports {
		if text == "github" {
			file := os.Getenv(summaryVariable)
			if file == "" {
				return nil, errors.New("--report github: " + summaryVariable + " is not set: it exists in jobs of GitHub Actions only; use markdown=FILE")
			}
			out = append(out, target{file: file, add: true, format: report.Markdown})
			continue
		}
		name, file, ok := strings.Cut(text, "=")
		write := report.Named(name)
		switch {
		case !ok || file == "":
			return nil, fmt.Errorf("--report %q: want FORMAT=FILE, such as html=report.html", text)
		case write == nil:
			return nil, fmt.Errorf("--report %q: unknown format %q; want one of %s", text, name, strings.Join(report.Formats(), ", "))
		}
		if info, err := os.Stat(filepath.Dir(file)); err != nil || !info.IsDir() {
			return nil, fmt.Errorf("--report %q: the folder %s does not exist", text, filepath.Dir(file))
		}
		out = append(out, target{name: name, file: file, format: write})
	}
	return out, nil
}

func (t target) write(d *report.Document) (err error) {
	how := os.O_TRUNC
	if t.add {
		how = os.O_APPEND
	}
	f, err := os.OpenFile(t.file, os.O_WRONLY|os.O_CREATE|how, 0o644)
	if err != nil {
		return fmt.Errorf("--report: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := bufio.NewWriter(f)
	return errors.Join(t.format(w, d), w.Flush())
}

// show prints the outcome and writes the reports. It returns errFailed if the run
// failed.
func (o *output) show(cmd *cobra.Command, d *report.Document) error {
	targets, err := o.targets()
	if err != nil {
		return err
	}
	for _, t := range targets {
		if err := t.write(d); err != nil {
			return err
		}
		if t.name == "html" {
			d.SetHTMLFile(t.file)
		}
	}
	out := cmd.OutOrStdout()
	if o.json {
		err = report.JSON(out, d)
	} else {
		err = o.text(out, d)
	}
	if err == nil && d.Failed {
		return errFailed
	}
	return err
}

// text prints the outcome for people: all of it, or one screen.
func (o *output) text(out io.Writer, d *report.Document) error {
	st := styleOf(out)
	if o.verbose {
		for _, e := range d.Results {
			if e.Verdict != string(conformance.NotApplicable) {
				fmt.Fprintf(out, "%-10s %s [%s] %s, %d assertions\n", e.Verdict, e.Case, e.Tier, e.Check, e.Assertions)
			}
		}
		fmt.Fprintln(out)
		if err := report.Failures(out, d, st); err != nil {
			return err
		}
		fmt.Fprintln(out)
	}
	if o.table == "true" || o.table == "auto" && len(d.Subjects()) > 1 {
		if err := report.Table(out, d, st); err != nil {
			return err
		}
		fmt.Fprintln(out)
	}
	if o.verbose {
		_, err := fmt.Fprintln(out, report.Summary(d, st))
		return err
	}
	return report.Console(out, d, st)
}

// rerun returns the command of this run without the flags that choose cases,
// checks and outputs.
func rerun(cmd *cobra.Command) string {
	words := []string{cmd.CommandPath()}
	for _, name := range []string{"corpus", subjectFlag, acpFlag, runnerFlag, httpFlag, "dialect", "standin", "start-limit", "runtime", "tier", "places", "seed", "exhaustive", "isolate"} {
		flag := cmd.Flags().Lookup(name)
		if flag == nil || !flag.Changed {
			continue
		}
		external := cmd.Flags().NArg() > 0 || slices.Contains(words, "--subject")
		if name == "runtime" && !external {
			continue // the case names the runtime; only for a program it is needed
		}
		values := []string{flag.Value.String()}
		switch list, ok := flag.Value.(interface{ GetSlice() []string }); {
		case ok:
			values = list.GetSlice()
		case name == "runtime":
			values[0], _, _ = strings.Cut(values[0], "@") // the case names the version
		}
		for _, v := range values {
			switch {
			case v == string(conformance.TierLive): // the report adds it
			case name == acpFlag || name == runnerFlag:
				words = append(words, "--subject", name)
			case name == httpFlag:
				words = append(words, "--subject", quoted(v))
			case flag.Value.Type() == "bool":
				words = append(words, "--"+name)
			default:
				words = append(words, "--"+name, quoted(v))
			}
		}
	}
	if cmd.Flags().NArg() > 0 {
		words = append(words, "--")
		for _, arg := range cmd.Flags().Args() {
			words = append(words, quoted(arg))
		}
	}
	return strings.Join(words, " ")
}

// quoted quotes a word for a shell.
func quoted(word string) string {
	if word != "" && !strings.ContainsFunc(word, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("@%+=:,./_-", r)
	}) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
