package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/turnspec/turnspec/conformance"
)

// These elements and attributes are read by Jenkins, GitLab, CircleCI and Buildkite.
// There is no standard.
type (
	junitSuites struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Name     string       `xml:"name,attr"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Errors   int          `xml:"errors,attr"`
		Time     junitTime    `xml:"time,attr,omitempty"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Errors   int         `xml:"errors,attr"`
		Skipped  int         `xml:"skipped,attr"`
		Time     junitTime   `xml:"time,attr,omitempty"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Class   string     `xml:"classname,attr"`
		Name    string     `xml:"name,attr"`
		Time    junitTime  `xml:"time,attr,omitempty"` // of all runs
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

// junitTime is a duration, which is written in seconds.
type junitTime time.Duration

// MarshalXMLAttr implements xml.MarshalerAttr.
func (t junitTime) MarshalXMLAttr(name xml.Name) (xml.Attr, error) {
	return xml.Attr{Name: name, Value: fmt.Sprintf("%.3f", time.Duration(t).Seconds())}, nil
}

// JUnit writes a suite for each subject with a testcase for each case, and one suite
// for the run as a whole. There is no testcase for each check on a case, because
// these are fifty times as many, most of them not applicable, and a bad case fails
// many checks at once. The failure of a testcase names all its checks.
func JUnit(w io.Writer, d *Document) error {
	all := junitSuites{Name: "turnspec"}
	find, followers, timeOf := d.newPlayFinder(), d.followers(), d.timeFinder()
	for from := 0; from < len(d.Results); {
		first := d.Results[from]
		to := from + 1
		for to < len(d.Results) && d.Results[to].Case == first.Case && d.Results[to].Subject == first.Subject {
			to++
		}
		if n := len(all.Suites); n == 0 || all.Suites[n-1].Name != first.Subject {
			all.Suites = append(all.Suites, junitSuite{Name: first.Subject})
		}
		c := newJUnitCase(d, d.Results[from:to], find, followers)
		c.Time = junitTime(timeOf(first.Subject, first.Case).total())
		all.Suites[len(all.Suites)-1].addCase(c)
		from = to
	}
	whole := junitSuite{Name: "the whole run"}
	for _, id := range d.Missing {
		whole.addCase(junitCase{Class: "checks", Name: id, Failure: &junitNote{Message: "no case gave a verdict on it", Type: "missing"}})
	}
	for _, u := range d.Stale() {
		whole.addCase(junitCase{Class: "known failures", Name: u.Check + " " + u.Case, Failure: &junitNote{Message: u.location() + ": " + u.Stale + "; remove the entry", Type: "stale"}})
	}
	if whole.Tests > 0 {
		all.Suites = append(all.Suites, whole)
	}
	for _, s := range all.Suites {
		all.Tests, all.Failures, all.Errors, all.Time = all.Tests+s.Tests, all.Failures+s.Failures, all.Errors+s.Errors, all.Time+s.Time
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

func (s *junitSuite) addCase(c junitCase) {
	s.Tests++
	s.Time += c.Time
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

func newJUnitCase(d *Document, results []Entry, find playFinder, followers func(Entry) []Entry) junitCase {
	parts := strings.Split(results[0].Case, "/")
	n := len(parts) - 1
	// Readers split package and class at the last dot.
	c := junitCase{Name: parts[n], Class: strings.ReplaceAll(strings.Join(parts[:max(n-1, 0)], "-"), ".", "_") + "." + parts[max(n-1, 0)]}
	var body, warnings strings.Builder
	var failed, known []string
	harness, flaky, judged, reason := true, true, false, ""
	for _, e := range results {
		v := conformance.Verdict(e.Verdict)
		judged = judged || v.Judged()
		switch {
		case d.Fails(e):
			failed = append(failed, e.Check)
			harness, flaky = harness && v == conformance.HarnessError, flaky && e.Flaky()
			writeGroup(&body, d, e, find, followers, Style{})
		case e.Known != nil:
			known = append(known, e.Check+": "+e.Known.Reason)
		case e.BadOnce():
			writeGroup(&warnings, d, e, find, followers, Style{})
		case e.Reason != "" && reason == "":
			reason = e.Verdict + ": " + e.Reason
		}
	}
	c.Out = warnings.String()
	switch {
	case len(failed) > 0 && harness:
		c.Error = &junitNote{Message: strings.Join(unique(failed), ", "), Type: string(conformance.HarnessError), Text: body.String()}
	case len(failed) > 0:
		kind := conformance.Fail
		if flaky {
			kind = conformance.Flaky
		}
		c.Failure = &junitNote{Message: strings.Join(unique(failed), ", "), Type: string(kind), Text: body.String()}
	case len(known) > 0:
		c.Skipped = &junitNote{Message: "known to fail: " + strings.Join(unique(known), "; ")}
	case !judged && reason != "":
		c.Skipped = &junitNote{Message: reason}
	case !judged:
		c.Skipped = &junitNote{Message: "no check applies to it"}
	}
	return c
}

// unique removes repeated strings and keeps the order.
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

// outcome is the outcome of the run in a word.
func (d *Document) outcome() string {
	switch {
	case d.Failed:
		return "failed"
	case d.Shard != nil:
		return fmt.Sprintf("shard %v passed", d.Shard)
	}
	return "passed"
}
