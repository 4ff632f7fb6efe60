package report_test

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/report"
)

// junitRules is what the JUnit schemas of CI systems have in common: the attributes
// of an element, with ! if required, and its children.
var junitRules = map[string]struct{ attributes, children []string }{
	"testsuites": {[]string{"name", "time", "tests", "failures", "errors"}, []string{"testsuite"}},
	"testsuite":  {[]string{"name!", "tests!", "failures!", "errors!", "skipped", "time", "timestamp", "hostname", "id", "package"}, []string{"properties", "testcase", "system-out", "system-err"}},
	"testcase":   {[]string{"name!", "classname", "time"}, []string{"skipped", "error", "failure", "system-out", "system-err"}},
	"failure":    {[]string{"type", "message"}, nil},
	"error":      {[]string{"type", "message"}, nil},
	"skipped":    {[]string{"type", "message"}, nil},
	"system-out": {nil, nil},
}

// junitFits reports whether CI systems can read a file.
func junitFits(text string) error {
	dec := xml.NewDecoder(strings.NewReader(text))
	var path []string
	for {
		tok, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		switch tok := tok.(type) {
		case xml.StartElement:
			name := tok.Name.Local
			rule, ok := junitRules[name]
			if parent := len(path) - 1; !ok || parent < 0 && name != "testsuites" || parent >= 0 && !slices.Contains(junitRules[path[parent]].children, name) {
				return fmt.Errorf("%s within %v", name, path)
			}
			given := map[string]bool{}
			for _, a := range tok.Attr {
				given[a.Name.Local] = true
				if !slices.Contains(rule.attributes, a.Name.Local) && !slices.Contains(rule.attributes, a.Name.Local+"!") {
					return fmt.Errorf("attribute %s of %s", a.Name.Local, name)
				}
			}
			for _, a := range rule.attributes {
				if must, ok := strings.CutSuffix(a, "!"); ok && !given[must] {
					return fmt.Errorf("%s without %s", name, must)
				}
			}
			path = append(path, name)
		case xml.EndElement:
			path = path[:len(path)-1]
		case xml.CharData:
			if last := len(path) - 1; last >= 0 && len(junitRules[path[last]].children) > 0 && strings.TrimSpace(string(tok)) != "" {
				return fmt.Errorf("text in %s", path[last])
			}
		}
	}
}

func TestJUnit(t *testing.T) {
	g := NewWithT(t)
	text := written(t, report.JUnit, example())
	g.Expect(junitFits(text)).To(Succeed())
	g.Expect(text).To(ContainSubstring(`<testsuite name="mine" tests="5" failures="1" errors="0" skipped="2">`))
	g.Expect(text).To(ContainSubstring(`<testcase classname="codex-1.text" name="plain">`))
	g.Expect(text).To(ContainSubstring(`<failure message="text.once" type="fail">`))
	g.Expect(text).To(ContainSubstring("rerun: turnspec run --case codex/1/text/plain --check text.once"))
	g.Expect(text).To(ContainSubstring(`<skipped message="unrecorded: process 1: read (weather)">`))
	g.Expect(text).To(ContainSubstring(`<testcase classname="checks" name="tool.known">`))
	g.Expect(text).To(ContainSubstring(`<testcase classname="codex-1.text" name="long"></testcase>`), "a pass")
	// What is known is skipped, what is stale fails.
	text = written(t, report.JUnit, known())
	g.Expect(junitFits(text)).To(Succeed())
	g.Expect(text).To(ContainSubstring(`<skipped message="known to fail: text.once: twice | until v2">`))
	g.Expect(text).To(ContainSubstring(`<failure message="known.txt:7: it does not fail any more; remove the entry" type="stale">`))
	g.Expect(junitFits(written(t, report.JUnit, report.New(&conformance.Report{}, report.About{})))).To(Succeed())
}

func TestJUnitEscapesTexts(t *testing.T) {
	g := NewWithT(t)
	rep := sample()
	rep.Results[0].Problems = []conformance.Problem{{Text: "\x1b[31m ]]> <b> & \xff \x00"}}
	g.Expect(junitFits(written(t, report.JUnit, report.New(rep, report.About{})))).To(Succeed())
}

// TestJUnitKinds checks that a harness error is an error, and a warning no failure.
func TestJUnitKinds(t *testing.T) {
	g := NewWithT(t)
	rep := sample()
	rep.Results = rep.Results[:4]
	rep.Missing = nil
	rep.Results[0].Verdict = conformance.HarnessError
	rep.Results[0].Reason = "stand-in: no such case"
	rep.Results[3].Verdict = conformance.Fail // a SHOULD
	text := written(t, report.JUnit, report.New(rep, report.About{}))
	g.Expect(junitFits(text)).To(Succeed())
	g.Expect(text).To(ContainSubstring(`<testsuites name="turnspec" tests="4" failures="0" errors="1">`))
	g.Expect(text).To(ContainSubstring("stand-in: no such case"))
	g.Expect(text).To(MatchRegexp(`<system-out>\s*(&#xA;)?WARNING codex/1/stop/mid-tool`))
}

func TestJUnitRules(t *testing.T) {
	for text, bad := range map[string]bool{
		`<testsuites><testsuite name="a" tests="1" failures="0" errors="0"><testcase name="b"/></testsuite></testsuites>`:          false,
		`<testsuites><testsuite name="a" tests="1" failures="0"><testcase name="b"/></testsuite></testsuites>`:                     true,
		`<testsuites><testcase name="b"/></testsuites>`:                                                                            true,
		`<testsuites><testsuite name="a" tests="1" failures="0" errors="0"><testcase name="b" when="x"/></testsuite></testsuites>`: true,
		`<testsuites>text</testsuites>`: true,
	} {
		if err := junitFits(text); (err != nil) != bad {
			t.Errorf("%s: %v", text, err)
		}
	}
}
