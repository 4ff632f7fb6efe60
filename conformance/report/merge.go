package report

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/turnspec/turnspec/conformance/judge"

	"github.com/turnspec/turnspec/conformance"
)

// Part is a document and the name of its file.
type Part struct {
	File string
	*Document
}

// Merge joins the documents of all shards into the document of the whole run. It
// returns the document of a whole run as it is.
func Merge(parts []Part) (*Document, error) {
	if len(parts) == 0 {
		return nil, errors.New("there is no report to merge")
	}
	if len(parts) == 1 && parts[0].Shard == nil {
		return parts[0].Document, nil
	}
	if err := checkParts(parts); err != nil {
		return nil, err
	}
	slices.SortStableFunc(parts, func(a, b Part) int { return a.Shard.Index - b.Shard.Index })
	first := parts[0]
	out := &Document{Format: Format, Turnspec: first.Turnspec, Corpus: first.Corpus, Selection: first.Selection, Known: slices.Clone(first.Known), Results: []Entry{}}
	rules := map[string]Rule{}
	from := map[[2]string]string{}
	for i, p := range parts {
		out.Cases += p.Cases
		out.FaultRuns += p.FaultRuns
		out.At = max(out.At, p.At)
		out.Results = append(out.Results, p.Results...)
		out.Plays = append(out.Plays, p.Plays...)
		out.Times = append(out.Times, p.Times...)
		out.LeftOut.Cases += p.LeftOut.Cases
		out.LeftOut.Faults += p.LeftOut.Faults
		out.Interrupted = out.Interrupted || p.Interrupted
		for _, r := range p.Checks {
			rules[r.ID] = r
		}
		for _, e := range p.Results {
			k := [2]string{e.Subject, e.Case}
			if other, ok := from[k]; ok && other != p.File {
				return nil, fmt.Errorf("%s and %s both hold the case %s of %s: they are not shards of one run", other, p.File, e.Case, e.Subject)
			}
			from[k] = p.File
		}
		for j := range out.Known {
			if i > 0 {
				out.Known[j].Failed += p.Known[j].Failed
				out.Known[j].Flaky += p.Known[j].Flaky
				out.Known[j].Judged += p.Known[j].Judged
			}
		}
	}
	if out.Selection.EveryCheck {
		out.Missing = missingChecks(out.Results)
	}
	out.sortAndDecide(rules)
	return out, nil
}

// checkParts returns an error if the documents are not shards of one run.
func checkParts(parts []Part) error {
	first := parts[0]
	for _, p := range parts {
		if p.Shard == nil {
			return fmt.Errorf("%s is the report of a whole run, not of a shard: it cannot be merged", p.File)
		}
		for _, x := range []struct {
			what string
			a, b any
		}{
			{"versions of turnspec", first.Turnspec, p.Turnspec},
			{"corpora", first.Corpus, p.Corpus},
			{"numbers of shards", first.Shard.Total, p.Shard.Total},
			{"subjects", first.Selection.Subjects, p.Selection.Subjects},
			{"checks", first.Selection.Checks, p.Selection.Checks},
			{"cases", first.Selection.Cases, p.Selection.Cases},
			{"tiers", first.Selection.Tiers, p.Selection.Tiers},
			{"numbers of places for a fault", first.Selection.Places, p.Selection.Places},
			{"settings of --fail-on-flaky", first.Selection.FailOnFlaky, p.Selection.FailOnFlaky},
			{"known failures", knownEntries(first.Known), knownEntries(p.Known)},
		} {
			if !reflect.DeepEqual(x.a, x.b) {
				return fmt.Errorf("%s and %s are of different %s: %s and %s; run all shards with the same flags", first.File, p.File, x.what, brief(x.a), brief(x.b))
			}
		}
	}
	return checkShards(parts)
}

// checkShards returns an error if a shard is missing or repeated.
func checkShards(parts []Part) error {
	total := parts[0].Shard.Total
	files := make([][]string, total+1)
	for _, p := range parts {
		if p.Shard.Index < 1 || p.Shard.Index > total {
			return fmt.Errorf("%s: there is no shard %v", p.File, p.Shard)
		}
		files[p.Shard.Index] = append(files[p.Shard.Index], p.File)
	}
	var gone []string
	for i, f := range files[1:] {
		s := conformance.Shard{Index: i + 1, Total: total}
		switch {
		case len(f) == 0:
			gone = append(gone, s.String())
		case len(f) > 1:
			return fmt.Errorf("shard %v is given %d times: %s", s, len(f), strings.Join(f, ", "))
		}
	}
	if len(gone) > 0 {
		return fmt.Errorf("missing: shard %s; merge needs all shards of a run", strings.Join(gone, ", "))
	}
	return nil
}

// knownEntries returns known failures without how often they were used.
func knownEntries(all []KnownUse) []KnownUse {
	out := make([]KnownUse, 0, len(all))
	for _, u := range all {
		u.Failed, u.Flaky, u.Judged, u.Stale = 0, 0, 0, ""
		out = append(out, u)
	}
	return out
}

func brief(v any) string { return clipLine(fmt.Sprintf("%v", v), 80) }

// missingChecks returns the checks that gave no verdict on any case, in the order of
// their first result.
func missingChecks(results []Entry) []string {
	checks := map[string]*conformance.Check{}
	all := make([]conformance.Result, 0, len(results))
	for _, e := range results {
		if checks[e.Check] == nil {
			checks[e.Check] = &conformance.Check{ID: e.Check}
		}
		all = append(all, conformance.Result{Check: checks[e.Check], Tier: conformance.Tier(e.Tier), Verdict: conformance.Verdict(e.Verdict), Reason: e.Reason})
	}
	var out []string
	for _, c := range judge.Missing(all) {
		out = append(out, c.ID)
	}
	return out
}
