package report

import (
	"bytes"
	"cmp"
	"compress/gzip"
	_ "embed"
	"encoding/base64"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/conformance"
)

//go:embed page/page.html
var pageHTML string

//go:embed page/page.css
var pageCSS string

// The scripts share one scope: draw.js draws, page.js handles input.
var (
	//go:embed page/draw.js
	drawJS string
	//go:embed page/play.js
	playJS string
	//go:embed page/page.js
	pageJS string
)

// pageIndex is the data that the page reads first. The problems and plays of a case
// are compressed elsewhere in the page, and read when the case is opened.
type pageIndex struct {
	Outcome   string          `json:"outcome"`
	Failed    bool            `json:"failed"`
	Summary   string          `json:"summary"`
	Turnspec  string          `json:"turnspec,omitempty"`
	Corpus    string          `json:"corpus,omitempty"`
	At        string          `json:"at,omitempty"`
	Missing   []string        `json:"missing,omitempty"`
	Known     []KnownUse      `json:"known,omitempty"`
	Slow      []string        `json:"slow,omitempty"`
	Subjects  []string        `json:"subjects"`
	Failures  []pageGroup     `json:"failures,omitempty"`
	Following []string        `json:"following,omitempty"` // checks that fail only after another
	Words     map[string]word `json:"words"`               // of the letters that occur
	Rules     []Rule          `json:"rules"`
	Columns   []pageColumn    `json:"columns"`
	Rows      []pageRow       `json:"rows"`
}

// pageColumn is a check in a tier.
type pageColumn struct {
	Rule int    `json:"rule"`
	Tier string `json:"tier"`
}

// pageRow is a case of a subject. Verdicts holds one letter for each column: see
// letterOf.
type pageRow struct {
	Case     string `json:"case"`
	Subject  int    `json:"subject"`
	Verdicts string `json:"verdicts"`
	Detail   int    `json:"detail,omitzero"` // the number of its pageDetail, from 1
	Took     int64  `json:"took_ns,omitzero"`
	Times    string `json:"times,omitempty"`    // how long its runs took, in words, if they took long
	Problems string `json:"problems,omitempty"` // the beginning of each, for the text search
}

// pageDetail holds the problems and plays of a case.
type pageDetail struct {
	Entries []Entry `json:"entries,omitempty"`
	Plays   []Play  `json:"plays,omitempty"`
}

// pageGroup is a check with failures, and its simplest failure.
type pageGroup struct {
	Check    string `json:"check"`
	Subject  int    `json:"subject"`
	Label    string `json:"label"`
	Failed   int    `json:"failed"`
	Judged   int    `json:"judged"`
	Case     string `json:"case"`
	Fault    string `json:"fault,omitempty"`
	Problem  string `json:"problem"`
	Expected string `json:"expected,omitempty"`
	Got      string `json:"got,omitempty"`
	Declare  string `json:"declare,omitempty"`
	Rerun    string `json:"rerun"`
}

// newPageGroups returns the checks with failures in the order of Console, and the names of
// those that fail only after another.
func newPageGroups(d *Document, subjects map[string]int) (out []pageGroup, following []string) {
	groups, follow := d.checkGroups()
	for _, g := range groups {
		x := pageGroup{Check: g.rule.ID, Subject: subjects[g.subject], Label: g.label(), Failed: g.failed, Judged: g.judged, Case: g.first.Case, Declare: g.declare}
		e, p := simplest(g.first)
		if p.Fault != nil {
			x.Fault = describeFault(*p.Fault)
		}
		x.Problem, _, _ = strings.Cut(cmp.Or(p.textWithoutFault(), e.Reason), "\n")
		x.Expected, x.Got, _ = FirstDifference(p.Diff)
		x.Rerun = d.Rerun(e)
		out = append(out, x)
	}
	for _, g := range follow {
		following = append(following, g.String())
	}
	return out, following
}

// letterOf returns a letter for a verdict. Capital letters fail the run, k is a
// known failure, w a warning, l and L are flaky, and a dot means not applicable.
func (d *Document) letterOf(e Entry) byte {
	switch v := conformance.Verdict(e.Verdict); {
	case e.Known != nil:
		return 'k'
	case d.Fails(e) && v == conformance.HarnessError:
		return 'H'
	case d.Fails(e) && e.Flaky():
		return 'L'
	case d.Fails(e):
		return 'F'
	case e.Flaky():
		return 'l'
	case e.BadOnce():
		return 'w'
	case v == conformance.Pass:
		return 'p'
	case v == conformance.Sent:
		return 's'
	case v == conformance.Unrecorded:
		return 'u'
	case v == conformance.NotExpressible:
		return 'x'
	case v == conformance.NotTried:
		return 't'
	}
	return '.'
}

// HTML writes a single file without references: a summary, and each case with its
// wire, events and chat on one time axis.
func HTML(w io.Writer, d *Document) error {
	index, details := newPage(d)
	data, err := json.Marshal(index, json.Deterministic(true), jsontext.EscapeForHTML(true), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return err
	}
	var b bytes.Buffer
	for i := range details {
		text, err := compress(details[i])
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "<script type=\"text/plain\" id=\"d%d\">%s</script>\n", i+1, text)
	}
	_, err = strings.NewReplacer(
		"{{title}}", "Turnspec: "+index.Outcome,
		"{{css}}", pageCSS, "{{js}}", drawJS+playJS+pageJS, "{{index}}", string(data), "{{details}}", b.String(),
	).WriteString(w, pageHTML)
	return err
}

func newPage(d *Document) (*pageIndex, []pageDetail) {
	p := &pageIndex{
		Outcome: d.outcome(), Failed: d.Failed, Summary: Summary(d, Style{}), Turnspec: d.Turnspec, Corpus: d.Corpus, At: d.At,
		Missing: d.Missing, Known: d.Known, Slow: d.slowLines(), Rules: d.Checks, Words: map[string]word{}, Subjects: []string{}, Columns: []pageColumn{}, Rows: []pageRow{},
	}
	rules := map[string]int{}
	for i, r := range d.Checks {
		rules[r.ID] = i
	}
	subjects, columns := map[string]int{}, map[pageColumn]int{}
	for _, e := range d.Results {
		if _, ok := subjects[e.Subject]; !ok {
			subjects[e.Subject] = len(p.Subjects)
			p.Subjects = append(p.Subjects, e.Subject)
		}
		if c := (pageColumn{rules[e.Check], e.Tier}); !hasColumn(columns, c) {
			columns[c] = len(p.Columns)
			p.Columns = append(p.Columns, c)
		}
	}
	type key struct {
		subject int
		name    string
	}
	rows := map[key]int{}
	var letters [][]byte
	var details []pageDetail
	timeOf := d.timeFinder()
	detail := func(row int) *pageDetail {
		if p.Rows[row].Detail == 0 {
			details = append(details, pageDetail{})
			p.Rows[row].Detail = len(details)
		}
		return &details[p.Rows[row].Detail-1]
	}
	for _, e := range d.Results {
		k := key{subjects[e.Subject], e.Case}
		row, ok := rows[k]
		if !ok {
			row = len(p.Rows)
			rows[k] = row
			t := timeOf(e.Subject, e.Case)
			p.Rows = append(p.Rows, pageRow{Case: e.Case, Subject: k.subject, Took: int64(t.total())})
			if t.FaultRuns > 0 && t.total() > time.Second || len(t.Waits) > 0 {
				p.Rows[row].Times = t.describe()
			}
			letters = append(letters, bytes.Repeat([]byte{' '}, len(p.Columns)))
		}
		letter := d.letterOf(e)
		letters[row][columns[pageColumn{rules[e.Check], e.Tier}]] = letter
		if p.Words[string(letter)] = wordOf(e); letter == 'w' {
			p.Words[string(letter)] = "warning"
		}
		if e.BadOnce() {
			at := detail(row)
			at.Entries = append(at.Entries, e)
			for _, x := range e.Problems[:min(len(e.Problems), maxSearched)] {
				p.Rows[row].Problems += clipLine(strings.Join(strings.Fields(x.Text), " "), 160) + " "
			}
		}
	}
	for _, x := range d.Plays {
		if row, ok := rows[key{subjects[x.Subject], x.Case}]; ok {
			at := detail(row)
			at.Plays = append(at.Plays, x)
		}
	}
	for i := range p.Rows {
		p.Rows[i].Verdicts = string(letters[i])
	}
	p.Failures, p.Following = newPageGroups(d, subjects)
	return p, details
}

func hasColumn(m map[pageColumn]int, c pageColumn) bool { _, ok := m[c]; return ok }

// maxSearched is how many problems of a verdict the text search finds.
const maxSearched = 2

// compress returns a value as text that a page can hold.
func compress(v any) (string, error) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if err := json.MarshalWrite(z, v, jsontext.AllowInvalidUTF8(true)); err != nil {
		return "", err
	}
	if err := z.Close(); err != nil {
		return "", err
	}
	return base64.StdEncoding.EncodeToString(b.Bytes()), nil
}
