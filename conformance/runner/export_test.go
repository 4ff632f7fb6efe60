package runner

import (
	"fmt"
	"maps"
	"slices"

	"github.com/turnspec/turnspec/conformance"
)

// Unexported functions that tests call.
var (
	Spread      = spread
	Take        = shardJobs
	Performable = performable
	JobCost     = jobCost
	WithLimits  = withLimits
)

// Chosen is a place at which a fault is tried.
type Chosen struct {
	Case, Fault string
	Place       int
}

func (c Chosen) String() string { return fmt.Sprint(c.Case, " ", c.Fault, " ", c.Place) }

// ChosenPlaces returns the places that were chosen for jobs.
func ChosenPlaces(jobs []Job) (out []Chosen) {
	for _, j := range jobs {
		for _, name := range slices.Sorted(maps.Keys(j.places)) {
			for _, p := range j.places[name] {
				out = append(out, Chosen{j.Case.ID, name, p})
			}
		}
	}
	return out
}

// UnusualKinds returns the kinds of lines that few of the cases have, by version.
func UnusualKinds(jobs []Job) map[string]map[string]bool {
	var all []*Job
	for i := range jobs {
		all = append(all, &jobs[i])
	}
	return unusualKinds(all)
}

// Wanted reports whether a check wants a fault.
func Wanted(checks []*conformance.Check, name string) bool {
	return slices.Contains(wantedFaults(checks), name)
}
