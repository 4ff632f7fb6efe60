package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/judge"
)

// Declarations returns About.Declare for the subjects of a configuration.
func Declarations(cfg conformance.Config) func(subject, what string) string {
	return func(name, what string) string {
		i := slices.IndexFunc(cfg.Subjects, func(s conformance.Subject) bool { return s.Name() == name })
		if i < 0 {
			return ""
		}
		if d, ok := cfg.Subjects[i].(conformance.OmissionDeclarer); ok {
			return d.DeclareOmission(what)
		}
		if _, external := cfg.Subjects[i].(conformance.External); external {
			return "" // its protocol has no declaration
		}
		return fmt.Sprintf("return false from Supports(%q) of its Session (conformance.EventSupporter)", what)
	}
}

// setDeclare sets Declare of the entries, which are those of the results, in the same
// order. It judges the first failure of each check again, which takes a while.
func (d *Document) setDeclare(results []conformance.Result, declare func(subject, what string) string) {
	if declare == nil {
		return
	}
	type key struct{ check, subject string }
	done := map[key]bool{}
	for i := range results {
		r := &results[i]
		k := key{r.Check.ID, r.Subject}
		if r.Verdict != conformance.Fail || done[k] {
			continue
		}
		done[k] = true
		if what := judge.Settling(r); len(what) > 0 {
			d.Results[i].Declare = declare(r.Subject, mostSpecific(what))
		}
	}
}

// mostSpecific returns the first member of the names, or the first type if none is one.
func mostSpecific(names []string) string {
	if i := slices.IndexFunc(names, func(n string) bool { return strings.Contains(n, ".") }); i >= 0 {
		return names[i]
	}
	return names[0]
}
