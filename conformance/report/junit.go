package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/turnspec/turnspec/conformance"
)

// The elements and attributes are those that Jenkins, GitLab, CircleCI and
// Buildkite all read; there is no standard.
type (
	junitSuites struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Name     string       `xml:"name,attr"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Errors   int          `xml:"errors,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Errors   int         `xml:"errors,attr"`
		Skipped  int         `xml:"skipped,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Class   string     `xml:"classname,attr"`
		Name    string     `xml:"name,attr"`
		Failure *junitNote `xml:"failure"`
		Error   *junitNote `xml:"error"`
		Skipped *junitNote `xml:"skipped"`
		Out     string     `xml:"system-out,omitempty"`
	}
	junitNote struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr,omitempty"`
		Text    string `xml:",chardata"`
	}
)

// JUnit writes one suite a subject and one testcase a case, and a suite of its
// own for what concerns the whole. A testcase is a case and not a check on a case: these
// are fifty times as many, most not applicable, and a recording that fails
// fails many checks at once. Its failure names all the checks.
func JUnit(w io.Writer, d *Document) error {
	all := junitSuites{Name: "turnspec"}
	find := d.finder()
	for from := 0; from < len(d.Results); {
		first := d.Results[from]
		to := from + 1
		for to < len(d.Results) && d.Results[to].Case == first.Case && d.Results[to].Subject == first.Subject {
			to++
		}
		if n := len(all.Suites); n == 0 || all.Suites[n-1].Name != first.Subject {
			all.Suites = append(all.Suites, junitSuite{Name: first.Subject})
		}
		all.Suites[len(all.Suites)-1].add(junitOf(d, d.Results[from:to], find))
		from = to
	}
	whole := junitSuite{Name: "the whole run"}
	for _, id := range d.Missing {
		whole.add(junitCase{Class: "checks", Name: id, Failure: &junitNote{Message: "no case gave a verdict on it", Type: "missing"}})
	}
	for _, u := range d.Stale() {
		whole.add(junitCase{Class: "known failures", Name: u.Check + " " + u.Case, Failure: &junitNote{Message: u.where() + ": " + u.Stale + "; remove the entry", Type: "stale"}})
	}
	if whole.Tests > 0 {
		all.Suites = append(all.Suites, whole)
	}
	for _, s := range all.Suites {
		all.Tests, all.Failures, all.Errors = all.Tests+s.Tests, all.Failures+s.Failures, all.Errors+s.Errors
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	if err := enc.Encode(all); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func (s *junitSuite) add(c junitCase) {
	s.Tests++
	switch {
	case c.Failure != nil:
		s.Failures++
	case c.Error != nil:
		s.Errors++
	case c.Skipped != nil:
		s.Skipped++
	}
	s.Cases = append(s.Cases, c)
}

func junitOf(d *Document, results []Entry, find func(Entry, *Fault) *Play) junitCase {
	parts := strings.Split(results[0].Case, "/")
	n := len(parts) - 1
	// The last dot divides package and class for those who read it.
	c := junitCase{Name: parts[n], Class: strings.ReplaceAll(strings.Join(parts[:max(n-1, 0)], "-"), ".", "_") + "." + parts[max(n-1, 0)]}
	var body, warnings strings.Builder
	var failed, known []string
	harness, judged, reason := true, false, ""
	for _, e := range results {
		v := conformance.Verdict(e.Verdict)
		judged = judged || v.Judged()
		switch {
		case e.Fails():
			failed = append(failed, e.Check)
			harness = harness && v == conformance.HarnessError
			writeFailure(&body, d, e, find, Style{})
		case e.Known != nil:
			known = append(known, e.Check+": "+e.Known.Reason)
		case e.Bad():
			writeFailure(&warnings, d, e, find, Style{})
		case e.Reason != "" && reason == "":
			reason = e.Verdict + ": " + e.Reason
		}
	}
	c.Out = warnings.String()
	switch {
	case len(failed) > 0 && harness:
		c.Error = &junitNote{Message: strings.Join(unique(failed), ", "), Type: string(conformance.HarnessError), Text: body.String()}
	case len(failed) > 0:
		c.Failure = &junitNote{Message: strings.Join(unique(failed), ", "), Type: string(conformance.Fail), Text: body.String()}
	case len(known) > 0:
		c.Skipped = &junitNote{Message: "known to fail: " + strings.Join(unique(known), "; ")}
	case !judged && reason != "":
		c.Skipped = &junitNote{Message: reason}
	case !judged:
		c.Skipped = &junitNote{Message: "no check looks at anything in it"}
	}
	return c
}

// unique drops what stands there already; the order stays.
func unique(all []string) []string {
	seen := map[string]bool{}
	var out []string
	for _, s := range all {
		if !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	return out
}

// outcome is the verdict on the whole in a word.
func (d *Document) outcome() string {
	switch {
	case d.Failed:
		return "failed"
	case d.Shard != nil:
		return fmt.Sprintf("shard %v passed", d.Shard)
	}
	return "passed"
}
