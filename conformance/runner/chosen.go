package runner

import (
	"fmt"
	"slices"
	"strings"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fakes/fault"
	"github.com/turnspec/turnspec/fixtures"
)

// notChosen is why a fault is not tried in a run of chosen faults.
const notChosen = "the run is of other faults"

// isChosen reports whether a fault is tried in the run.
func isChosen(cfg conformance.Config, name string) bool {
	return len(cfg.Faults) == 0 || slices.ContainsFunc(cfg.Faults, func(f conformance.FaultAt) bool { return f.Name == name })
}

// chosenLine returns the line at which a fault is to be tried; 0: any.
func chosenLine(cfg conformance.Config, name string) int {
	for _, f := range cfg.Faults {
		if f.Name == name {
			return f.Line
		}
	}
	return 0
}

// hasPlace reports whether the case has a place for a fault.
func (j *Job) hasPlace(scn *fixtures.Scenario, name string) (bool, error) {
	if j.places != nil {
		_, has := j.places[name]
		return has, nil
	}
	op, err := fault.Named(name)
	return err == nil && len(op.Places(j.Case, scn)) > 0, err
}

// placesOf returns the places of the case at which a fault is tried.
func (j *Job) placesOf(cfg conformance.Config, scn *fixtures.Scenario, op fault.Operator) []int {
	c := j.Case
	if j.places != nil {
		return j.places[op.Name]
	}
	places := op.Places(c, scn)
	if line := chosenLine(cfg, op.Name); line != 0 {
		return slices.DeleteFunc(slices.Clone(places), func(place int) bool { f := op.Apply(c, place); return f.Line != line })
	}
	return samplePlaces(cfg, places, c.ID+" "+op.Name)
}

// checkFaults returns an error if a chosen fault is unknown, no check tries it, or no job
// has a place for it.
func checkFaults(cfg conformance.Config, jobs []Job) error {
	for _, f := range cfg.Faults {
		op, err := fault.Named(f.Name)
		if err != nil {
			return err
		}
		if wanted := wantedFaults(cfg.Checks); !slices.Contains(wanted, f.Name) {
			return fmt.Errorf("none of the checks tries the fault %s; they try %s", f.Name, strings.Join(wanted, ", "))
		}
		if !slices.ContainsFunc(jobs, func(j Job) bool { return len(j.placesOf(cfg, j.rec.Scenario, op)) > 0 }) {
			return fmt.Errorf("the cases have no place for the fault %s%s", f, linesFor(jobs, op))
		}
	}
	return nil
}

// linesFor says at which lines the fault can be tried, if there is one case.
func linesFor(jobs []Job, op fault.Operator) string {
	if len(jobs) == 0 || slices.ContainsFunc(jobs, func(j Job) bool { return j.Case.ID != jobs[0].Case.ID }) {
		return ""
	}
	var lines []int
	for _, place := range op.Places(jobs[0].Case, jobs[0].rec.Scenario) {
		if f := op.Apply(jobs[0].Case, place); f.Line != 0 && !slices.Contains(lines, f.Line) {
			lines = append(lines, f.Line)
		}
	}
	if len(lines) == 0 {
		return ""
	}
	return strings.ReplaceAll(strings.Trim(fmt.Sprintf("; %s has some at the lines %v", jobs[0].Case.ID, lines), "]"), "[", "")
}
