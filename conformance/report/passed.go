package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/turnspec/turnspec/fixtures"
)

// passed returns how many of the checks that apply to a case passed wherever they judge, in a
// line such as: 101 of 103 checks on claude 2.1.197. Checks that were not tried or are not
// expressible apply too.
func (d *Document) passed() string {
	n, total := 0, 0
	for _, w := range d.checkWords() {
		if w == wordNotApplicable {
			continue
		}
		total++
		if w == wordPass {
			n++
		}
	}
	text := fmt.Sprintf("%d of %d checks", n, total)
	if on := runtimesOf(d.Results); on != "" {
		text += " on " + on
	}
	return text
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

// Subjects returns the subjects with results, in their order.
func (d *Document) Subjects() []string {
	var out []string
	for _, e := range d.Results {
		if !slices.Contains(out, e.Subject) {
			out = append(out, e.Subject)
		}
	}
	return out
}
