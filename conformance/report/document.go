package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/turnspec/turnspec/conformance"
)

// Format is the version of the JSON form. It is raised when a reader of the previous
// one would misread it.
const Format = 2

// Document is the stored outcome of a run. The other forms show only what it holds.
// Merge joins the documents of shards.
type Document struct {
	Format    int                `json:"format"`
	At        string             `json:"at,omitempty"`       // when the run ended, as in RFC 3339
	Turnspec  string             `json:"turnspec,omitempty"` // version of turnspec
	Corpus    string             `json:"corpus,omitempty"`   // fixtures.Corpus.Sum
	Shard     *conformance.Shard `json:"shard,omitempty"`    // nil for a whole run
	Selection Selection          `json:"selection"`
	Failed    bool               `json:"failed"`
	Cases     int                `json:"cases"`
	FaultRuns int                `json:"runs_with_a_fault"`
	Missing   []string           `json:"checks_without_a_case,omitempty"`
	Known     []KnownUse         `json:"known_failures,omitempty"`
	Checks    []Rule             `json:"checks"`
	Results   []Entry            `json:"results"`
	Plays     []Play             `json:"plays,omitempty"`
	Times     []CaseTime         `json:"case_times,omitempty"`
	// Interrupted reports that the run was ended before all cases were done.
	Interrupted bool `json:"interrupted,omitzero"`
	// LeftOut is what was not tried because the time for the run was over.
	LeftOut LeftOut `json:"left_out,omitzero"`

	htmlFile string // see SetHTMLFile
	rerun    string // the command that runs the case again, of a Go test; "": see Rerun
}

// LeftOut counts the cases, and the runs with a fault of other cases, that were not tried.
type LeftOut struct {
	Cases  int `json:"cases"`
	Faults int `json:"runs_with_a_fault"`
}

// SetHTMLFile sets the name of the HTML report that was written of the document. Console
// names it.
func (d *Document) SetHTMLFile(name string) { d.htmlFile = name }

func (l LeftOut) any() bool { return l != LeftOut{} }

// describe says what was left out, and why.
func (l LeftOut) describe() string {
	var parts []string
	for _, x := range []struct {
		n         int
		one, many string
	}{{l.Cases, "case", "cases"}, {l.Faults, "run with a fault", "runs with a fault"}} {
		switch {
		case x.n == 1:
			parts = append(parts, "1 "+x.one)
		case x.n > 1:
			parts = append(parts, fmt.Sprintf("%d %s", x.n, x.many))
		}
	}
	verb := "were"
	if l.Cases+l.Faults == 1 {
		verb = "was"
	}
	return strings.Join(parts, " and ") + " " + verb + " left out, because the time for the run was over"
}

// Selection is what was asked for. All shards of a run have the same.
type Selection struct {
	Subjects []string `json:"subjects,omitempty"`
	Checks   []string `json:"checks,omitempty"`
	Cases    []string `json:"cases,omitempty"`  // globs; empty means all
	Tiers    []string `json:"tiers,omitempty"`  // empty means the default ones
	Places   int      `json:"places,omitempty"` // of a case at which each fault is tried; 0 means all
	Seed     uint64   `json:"seed,omitempty"`   // picks the places
	// EveryCheck: a check without a verdict on any case fails the run.
	EveryCheck bool `json:"every_check,omitempty"`
	// FailOnFlaky: a flaky verdict fails the run.
	FailOnFlaky bool   `json:"fail_on_flaky,omitzero"`
	Level       string `json:"level,omitempty"` // of the checks; "": all were chosen, or some by name
	// ChecksLeftOut is how many checks are of a higher level.
	ChecksLeftOut int    `json:"checks_left_out,omitzero"`
	Command       string `json:"command,omitempty"`
	// CaseFile is the file of the only case, as a word of a shell; "": the corpus holds the
	// cases.
	CaseFile string `json:"case_file,omitempty"`
}

// Rule describes a check.
type Rule struct {
	ID       string `json:"id"`
	Sentence string `json:"sentence"`
	Severity string `json:"severity"`
	Source   string `json:"source,omitempty"`
}

// Entry is the verdict of a check on a case.
type Entry struct {
	Check      string    `json:"check"`
	Case       string    `json:"case"`
	Subject    string    `json:"subject"`
	Tier       string    `json:"tier"`
	Severity   string    `json:"severity"`
	Verdict    string    `json:"verdict"`
	Assertions int       `json:"assertions"`
	Reason     string    `json:"reason,omitempty"`
	Problems   []Problem `json:"problems,omitempty"`
	Known      *Known    `json:"known,omitempty"`
	// Follows is the check that failed earlier on the wire of the same run, or that reports
	// that the run did not end, and so may be why this one failed; "": none did.
	Follows string `json:"follows,omitempty"`
	// Declare is how the subject declares that it leaves out what it did not emit, if the
	// check would then not fail; "": no declaration settles the failure. It is set for the
	// first failures of a check.
	Declare string `json:"declare,omitempty"`
	// Rerun is the command that runs a failed check on this case again.
	Rerun string `json:"rerun,omitempty"`
}

// Problem is one violation of a check.
type Problem struct {
	Text  string `json:"text"`
	Diff  string `json:"diff,omitempty"`
	Seq   int64  `json:"event,omitzero"` // of the event that shows it
	Line  int    `json:"line,omitzero"`  // of the case's file
	Fault *Fault `json:"fault,omitempty"`
}

// Fault is a fault that was applied to the wire.
type Fault struct {
	Operator string `json:"operator"`
	Kind     string `json:"kind"`
	Place    int    `json:"place"`
	Line     int    `json:"line,omitzero"` // of the case's file
}

// Known is an entry of the known failures: it keeps a failure from failing the run.
type Known struct {
	Reason string `json:"reason"`
	Link   string `json:"link,omitempty"`
	At     string `json:"at,omitempty"` // file:line
	// MayPass: the failure comes and goes, so that the entry is never stale.
	MayPass bool `json:"may_pass,omitzero"`
}

// KnownUse is a known failure and how often it was used.
type KnownUse struct {
	Check   string `json:"check"`
	Case    string `json:"case"`
	Subject string `json:"subject,omitempty"`
	Known
	Failed     int    `json:"failed"`         // flaky ones too
	Flaky      int    `json:"flaky,omitzero"` // of the failed ones
	Judged     int    `json:"judged"`
	NoSuchCase bool   `json:"no_such_case,omitzero"`
	Stale      string `json:"stale,omitempty"` // why it must be removed
}

// About holds facts about a run that its report does not.
type About struct {
	Turnspec, Corpus string
	Selection        Selection
	At               time.Time // when the run ended; zero: it is not stored
	Runs             bool      // also store the runs of passed verdicts
	Rerun            string    // of a Go test: the command that runs it again
	// Declare returns how a subject declares that its events lack a type or a member, or
	// ""; nil: no subject can. See Declarations.
	Declare func(subject, what string) string
	// DrawChat is that of the configuration.
	DrawChat func(*conformance.Run) []conformance.Bubble
}

// Select returns the selection of a configuration.
func Select(cfg conformance.Config) Selection {
	s := Selection{Cases: cfg.Cases, FailOnFlaky: cfg.FailOnFlaky}
	if !cfg.Exhaustive {
		s.Places, s.Seed = max(cfg.Places, 1), cfg.Seed
	}
	for _, x := range cfg.Subjects {
		s.Subjects = append(s.Subjects, x.Name())
	}
	for _, c := range cfg.Checks {
		s.Checks = append(s.Checks, c.ID)
	}
	for _, t := range cfg.Tiers {
		s.Tiers = append(s.Tiers, string(t))
	}
	return s
}

// New returns the document of a report.
func New(rep *conformance.Report, about About) *Document {
	d := &Document{
		Format: Format, Turnspec: about.Turnspec, Corpus: about.Corpus, Selection: about.Selection,
		Cases: rep.Cases, FaultRuns: rep.FaultRuns, rerun: about.Rerun, Results: make([]Entry, 0, len(rep.Results)),
	}
	if !about.At.IsZero() {
		d.At = about.At.UTC().Format(time.RFC3339)
	}
	if rep.Shard.Partial() {
		d.Shard = &rep.Shard
	}
	d.Selection.FailOnFlaky = d.Selection.FailOnFlaky || rep.FailOnFlaky
	rules := map[string]Rule{}
	taken := map[playKey]bool{}
	for _, r := range rep.Results {
		c := r.Check
		rules[c.ID] = Rule{c.ID, c.Sentence, c.Severity.String(), c.Source}
		d.Results = append(d.Results, newEntry(r))
		if r.Verdict.BadOnce() || about.Runs {
			d.Plays = append(d.Plays, newPlays(r, taken, about.DrawChat)...)
		}
	}
	d.setFollows(rep.Results)
	d.setDeclare(rep.Results, about.Declare)
	for _, u := range rep.KnownFailures {
		d.Known = append(d.Known, KnownUse{
			Check: u.Check, Case: u.Case, Subject: u.Subject, Known: newKnown(u.KnownFailure),
			Failed: u.Failed, Flaky: u.Flaky, Judged: u.Judged, NoSuchCase: u.NoSuchCase,
		})
	}
	for _, c := range rep.Missing {
		d.Missing = append(d.Missing, c.ID)
	}
	d.Times, d.Interrupted, d.LeftOut = caseTimes(rep.Timings), rep.Interrupted, LeftOut(rep.LeftOut)
	d.sortAndDecide(rules)
	for i := range d.Results {
		if e := &d.Results[i]; e.BadOnce() {
			e.Rerun = d.Rerun(*e)
		}
	}
	return d
}

func newEntry(r conformance.Result) Entry {
	e := Entry{Check: r.Check.ID, Case: r.Case, Subject: r.Subject, Tier: string(r.Tier), Severity: r.Check.Severity.String(),
		Verdict: string(r.Verdict), Assertions: r.Assertions, Reason: conformance.Printable(r.Reason)}
	for _, p := range r.Problems {
		q := Problem{Diff: shortenDiff(conformance.Printable(p.Diff)), Seq: p.Seq, Line: fileLine(runOf(&r, p), p)}
		q.Text, _ = clipText(p.Text)
		if h := p.Fault; h != nil {
			q.Fault = &Fault{h.Operator, string(h.Kind), h.Place, h.Line}
		}
		e.Problems = append(e.Problems, q)
	}
	if r.KnownFailure != nil {
		k := newKnown(*r.KnownFailure)
		e.Known = &k
	}
	return e
}

func newKnown(k conformance.KnownFailure) Known { return Known{k.Reason, k.Link, k.At, k.MayPass} }

// sortAndDecide sorts everything into an order that does not depend on shards, and
// sets the members that follow from the verdicts.
func (d *Document) sortAndDecide(rules map[string]Rule) {
	subject := map[string]int{}
	for i, s := range d.Selection.Subjects {
		subject[s] = i
	}
	order := func(subjectA, caseA, subjectB, caseB string) int {
		return cmp.Or(cmp.Compare(subject[subjectA], subject[subjectB]), cmp.Compare(subjectA, subjectB),
			slices.Compare(strings.Split(caseA, "/"), strings.Split(caseB, "/")))
	}
	slices.SortStableFunc(d.Results, func(a, b Entry) int { return order(a.Subject, a.Case, b.Subject, b.Case) })
	slices.SortStableFunc(d.Plays, func(a, b Play) int { return order(a.Subject, a.Case, b.Subject, b.Case) })
	slices.SortStableFunc(d.Times, func(a, b CaseTime) int { return order(a.Subject, a.Case, b.Subject, b.Case) })
	d.Checks = []Rule{}
	for _, e := range d.Results {
		if rule, ok := rules[e.Check]; ok {
			d.Checks = append(d.Checks, rule)
			delete(rules, e.Check)
		}
	}
	slices.SortStableFunc(d.Missing, func(a, b string) int {
		at := func(id string) int { return slices.IndexFunc(d.Checks, func(r Rule) bool { return r.ID == id }) }
		return at(a) - at(b)
	})
	for i, u := range d.Known {
		d.Known[i].Stale = ""
		if d.Shard == nil && !d.LeftOut.any() {
			use := conformance.KnownFailureUse{Failed: u.Failed, Judged: u.Judged, NoSuchCase: u.NoSuchCase}
			use.MayPass = u.MayPass
			d.Known[i].Stale = use.Stale()
		}
	}
	d.Failed = len(d.Missing) > 0 || d.unjudged() != "" || len(d.Stale()) > 0 || slices.ContainsFunc(d.Results, d.Fails)
}

// unjudged returns why no check gave a verdict in a whole run, or "".
func (d *Document) unjudged() string {
	if d.Shard != nil {
		return ""
	}
	results := make([]conformance.Result, 0, len(d.Results))
	for _, e := range d.Results {
		results = append(results, conformance.Result{Verdict: conformance.Verdict(e.Verdict), Reason: e.Reason})
	}
	return conformance.WhyUnjudged(results)
}

// BadOnce reports whether the check failed, in both tries or in one, as a known failure
// or not.
func (e Entry) BadOnce() bool { return conformance.Verdict(e.Verdict).BadOnce() }

// Flaky reports whether the check failed in one of two tries.
func (e Entry) Flaky() bool { return e.Verdict == string(conformance.Flaky) }

// Fails reports whether a verdict fails the run.
func (d *Document) Fails(e Entry) bool {
	bad := e.BadOnce() && (d.Selection.FailOnFlaky || !e.Flaky())
	return bad && e.Known == nil && e.Severity == conformance.Must.String()
}

// Stale returns the known failures that must be removed.
func (d *Document) Stale() []KnownUse {
	var out []KnownUse
	for _, u := range d.Known {
		if u.Stale != "" {
			out = append(out, u)
		}
	}
	return out
}

func (d *Document) findRule(id string) Rule {
	for _, r := range d.Checks {
		if r.ID == id {
			return r
		}
	}
	return Rule{ID: id}
}
