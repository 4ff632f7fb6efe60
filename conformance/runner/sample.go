package runner

import (
	"hash/fnv"
	"math/rand/v2"
	"slices"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/worker"
	"github.com/turnspec/turnspec/fakes/fault"
)

// manyCases is the number of cases from which on a run chooses places by situations. With fewer,
// each fault is tried at Config.Places places of each case, whichever other cases the run has.
const manyCases = 100

// choosePlaces chooses the places at which faults are tried on the jobs of a subject in
// virtual time: in each situation of each version (fault.Situations) a fault is tried
// Config.Places times, on different cases if there are some. Without that, thousands of runs
// would differ only in what was said before the fault.
func choosePlaces(cfg conformance.Config, s conformance.Subject, jobs []Job) error {
	external, _ := tiersOf(cfg, s)
	if external || cfg.Exhaustive || len(cfg.Faults) > 0 || worker.Serving(cfg.Isolate) { // a worker is given the places
		return nil
	}
	x := sampler{most: max(cfg.Places, 1), seed: cfg.Seed, numbers: map[string]int{}}
	for _, name := range wantedFaults(cfg.Checks) {
		op, err := fault.Named(name)
		if err != nil {
			return err
		}
		x.faults = append(x.faults, op)
	}
	var performed []*Job
	for i := range jobs {
		if sameSubject(jobs[i].Subject, s) && performable(jobs[i]) {
			performed = append(performed, &jobs[i])
		}
	}
	if len(performed) < manyCases {
		return nil
	}
	for _, j := range performed {
		j.places = map[string][]int{}
		x.addJob(j)
	}
	for i := range x.faults {
		x.choose(i)
	}
	return nil
}

// sampler chooses places of jobs.
type sampler struct {
	most    int // times that a fault is tried in a situation
	seed    uint64
	faults  []fault.Operator
	jobs    []sampled
	numbers map[string]int // of situations
}

// sampled is a job with what is known of its case.
type sampled struct {
	*Job
	situations []int         // their numbers, by line; -1 for none
	places     []faultPlaces // parallel to sampler.faults
	others     bool          // the case needs an ability that not all subjects have
}

// faultPlaces are the places of a fault in a case.
type faultPlaces struct {
	places []int
	kind   placeKind
}

type placeKind int

const (
	atLine    placeKind = iota
	wholeWire           // it changes all lines
	ofCase              // the scenario names the fault
)

// addJob adds a job. All faults of a case are read together, because reading its lines is most
// of the work.
func (x *sampler) addJob(j *Job) {
	s := sampled{Job: j, others: !needsNoAbility(j.rec.Scenario)}
	for _, text := range fault.Situations(j.Case) {
		n := -1
		if text != "" {
			key := j.Case.Version + " " + text
			if _, known := x.numbers[key]; !known {
				x.numbers[key] = len(x.numbers)
			}
			n = x.numbers[key]
		}
		s.situations = append(s.situations, n)
	}
	for _, op := range x.faults {
		p := faultPlaces{places: op.Places(j.Case, j.rec.Scenario)}
		switch {
		case len(p.places) == 0:
		case op.Selective && slices.Contains(j.rec.Scenario.Faults, op.Name):
			p.kind = ofCase
		case op.Apply(j.Case, p.places[0]).Line == 0:
			p.kind = wholeWire
		}
		s.places = append(s.places, p)
	}
	x.jobs = append(x.jobs, s)
}

// choose chooses the places of a fault.
func (x *sampler) choose(faultIndex int) {
	name := x.faults[faultIndex].Name
	h := fnv.New64a()
	_, _ = h.Write([]byte(name)) // it never fails
	random := rand.New(rand.NewPCG(x.seed, h.Sum64()))
	tried := make([]int, len(x.numbers))
	order := random.Perm(len(x.jobs)) // so that faults fall on different cases
	slices.SortStableFunc(order, func(a, b int) int {
		// A subject may not support the others, and then no fault is tried on them.
		return compareBool(x.jobs[a].others, x.jobs[b].others)
	})
	for _, i := range order {
		j := &x.jobs[i]
		p := j.places[faultIndex]
		switch {
		case len(p.places) == 0:
		case p.kind == ofCase:
			j.Job.places[name] = spread(p.places, x.most, random.IntN)
		case p.kind == wholeWire && x.isNew(j, tried):
			j.Job.places[name] = spread(p.places, x.most, random.IntN)
		case p.kind == atLine:
			j.Job.places[name] = x.rarest(j, p.places, nil, x.most, tried, random)
		}
	}
	for _, i := range order {
		if j := &x.jobs[i]; j.places[faultIndex].kind == atLine {
			j.Job.places[name] = x.rarest(j, j.places[faultIndex].places, j.Job.places[name], len(j.Case.Wire), tried, random)
		}
	}
}

// compareBool compares false as less than true.
func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// isNew reports whether a fault of all lines was not tried often enough in the situation of one of
// them, and then counts it in all.
func (x *sampler) isNew(j *sampled, tried []int) bool {
	if !slices.ContainsFunc(j.situations, func(n int) bool { return n >= 0 && tried[n] < x.most }) {
		return false
	}
	seen := map[int]bool{-1: true}
	for _, n := range j.situations {
		if !seen[n] {
			seen[n] = true
			tried[n]++
		}
	}
	return true
}

// rarest adds at most n places to chosen: those at which the fault was tried least in that
// situation, and not often enough.
func (x *sampler) rarest(j *sampled, places, chosen []int, n int, tried []int, random *rand.Rand) []int {
	for range n {
		least, equal := x.most, []int(nil)
		for _, p := range places {
			s := j.situation(p)
			if s < 0 || tried[s] >= x.most || slices.Contains(chosen, p) {
				continue
			}
			if tried[s] < least {
				least, equal = tried[s], nil
			}
			if tried[s] == least {
				equal = append(equal, p)
			}
		}
		if equal == nil {
			break
		}
		p := equal[random.IntN(len(equal))]
		tried[j.situation(p)]++
		chosen = append(chosen, p)
	}
	slices.Sort(chosen)
	return chosen
}

// situation returns the number of the situation at a place. A place at a step of the client, or
// behind the last line, has that of the output before it.
func (j *sampled) situation(place int) int {
	for i := min(place, len(j.situations)-1); i >= 0; i-- {
		if j.situations[i] >= 0 {
			return j.situations[i]
		}
	}
	return -1
}
