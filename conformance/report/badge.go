package report

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/fixtures"
)

// Standing is how many checks a subject passes.
type Standing struct {
	Passed int    `json:"passed"` // checks with a verdict that passed on every case that they judge
	Failed int    `json:"failed"` // checks that failed on a case, in both tries or in one, as a known failure or not
	Total  int    `json:"total"`  // checks that apply to a case, also those that were not tried or are not expressible
	On     string `json:"on,omitempty"`
	Red    bool   `json:"red"` // the run failed
}

// String returns a line such as: 101 of 103 checks on claude 2.1.329.
func (s Standing) String() string {
	text := fmt.Sprintf("%d of %d checks", s.Passed, s.Total)
	if s.On != "" {
		text += " on " + s.On
	}
	return text
}

// Standing returns the standing of the subject, or of all subjects if there are several.
func (d *Document) Standing() Standing {
	s := Standing{On: runtimesOf(d.Results), Red: d.Failed}
	for _, w := range d.checkWords() {
		switch w {
		case wordNotApplicable:
			continue
		case wordFail, wordFlaky, wordKnown:
			s.Failed++
		case wordPass:
			s.Passed++
		}
		s.Total++
	}
	return s
}

// runtimesOf names the runtimes of the results, with their version if there is one.
func runtimesOf(results []Entry) string {
	versions := map[string][]string{}
	var names []string
	for _, e := range results {
		name, version, _ := fixtures.SplitCaseID(e.Case)
		if versions[name] == nil {
			names = append(names, name)
		}
		if !slices.Contains(versions[name], version) {
			versions[name] = append(versions[name], version)
		}
	}
	slices.Sort(names)
	for i, name := range names {
		if n := len(versions[name]); n == 1 {
			names[i] += " " + versions[name][0]
		} else {
			names[i] += fmt.Sprintf(" (%d versions)", n)
		}
	}
	return strings.Join(names, " and ")
}

// badgeTitle is the left part of a badge.
const badgeTitle = "Turnspec"

// colour returns the colour of a badge: red if the run failed, yellow if a check failed
// that does not fail the run, light green if some checks gave no verdict, else green.
func (s Standing) colour() (name, hex string) {
	switch {
	case s.Red || s.Total == 0:
		return "red", "#b3261e"
	case s.Failed > 0:
		return "yellow", "#8a5a00"
	case s.Passed < s.Total:
		return "green", "#4a7a17"
	}
	return "brightgreen", "#17713a"
}

// Shields writes the JSON from which shields.io draws a badge, if it is served somewhere.
func Shields(w io.Writer, d *Document) error {
	s := d.Standing()
	name, _ := s.colour()
	err := json.MarshalWrite(w, struct {
		SchemaVersion int    `json:"schemaVersion"`
		Label         string `json:"label"`
		Message       string `json:"message"`
		Color         string `json:"color"`
	}{1, badgeTitle, s.String(), name}, jsontext.Multiline(true))
	if err == nil {
		_, err = io.WriteString(w, "\n")
	}
	return err
}

// Badge writes a badge as an SVG image without references.
func Badge(w io.Writer, d *Document) error {
	s := d.Standing()
	_, hex := s.colour()
	var message strings.Builder
	if err := xml.EscapeText(&message, []byte(s.String())); err != nil {
		return err
	}
	left, right := badgeWidth(badgeTitle), badgeWidth(s.String())
	_, err := fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" width="%[1]d" height="20" role="img" aria-label="%[2]s: %[3]s">
<title>%[2]s: %[3]s</title>
<clipPath id="r"><rect width="%[1]d" height="20" rx="3"/></clipPath>
<g clip-path="url(#r)"><rect width="%[4]d" height="20" fill="#444b55"/><rect x="%[4]d" width="%[5]d" height="20" fill="%[6]s"/></g>
<g fill="#fff" font-family="Verdana,DejaVu Sans,Geneva,sans-serif" font-size="11"><text x="6" y="14" textLength="%[7]d">%[2]s</text><text x="%[8]d" y="14" textLength="%[9]d">%[3]s</text></g>
</svg>
`, left+right, badgeTitle, message.String(), left, right, hex, left-2*badgePadding, left+badgePadding, right-2*badgePadding)
	return err
}

const badgePadding = 6

// badgeWidth returns the width of a part of a badge, in pixels. The image stretches the
// text to it, whatever font is there.
func badgeWidth(text string) int {
	tenths := 0
	for _, r := range text {
		tenths += cmp.Or(letterWidths[r], 68)
	}
	return tenths/10 + 2*badgePadding
}

// letterWidths are the widths of narrow and wide letters in Verdana at 11 pixels, in
// tenths of a pixel.
var letterWidths = map[rune]int{
	' ': 39, '.': 40, ',': 40, ':': 50, '(': 50, ')': 50, '-': 50, '/': 50, 'f': 39, 'i': 30, 'j': 38, 'l': 30, 'r': 47, 's': 57, 't': 43,
	'c': 57, 'k': 65, 'v': 65, 'x': 65, 'z': 58, 'm': 107, 'w': 90, 'T': 68,
}
