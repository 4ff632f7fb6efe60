package runner

import (
	"hash/fnv"
	"math/rand/v2"
	"slices"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/worker"
	"github.com/turnspec/turnspec/fakes/fault"
	"github.com/turnspec/turnspec/fixtures"
)

// manyCases is the number of cases from which on a run chooses places by situations. With fewer,
// each fault is tried at Config.Places places of each case, whichever other cases the run has.
const manyCases = 100

// unusualShare says which lines are unusual: those of a kind that at most one in so many cases
// of a version has.
const unusualShare = 50

// rareShare says which faults are tried on each case that has a place for them: those for which
// at most one case in so many has one.
const rareShare = 3

// choosePlaces chooses the places at which faults are tried on the jobs of a subject in
// virtual time: in each situation of each version (fault.Situation) a fault is tried
// Config.Places times, on different cases if there are some. Without that, thousands of runs
// would differ only in what was said before the fault. What an unusual line leaves behind shows
// only in a fault that follows: so of the faults that the same check judges one is tried in
// each situation after each kind of unusual line, on one of the versions.
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
	x.families = families(cfg.Checks, x.faults)
	var performed []*Job
	for i := range jobs {
		if sameSubject(jobs[i].Subject, s) && performable(jobs[i]) {
			performed = append(performed, &jobs[i])
		}
	}
	if len(performed) < manyCases {
		return nil
	}
	unusual := unusualKinds(performed)
	for _, j := range performed {
		j.places = map[string][]int{}
		x.addJob(j, unusual[j.Case.Version])
	}
	after := make([][]int, len(x.families))
	for i, f := range x.families {
		if after[f] == nil {
			after[f] = make([]int, len(x.numbers))
		}
		t := tried{here: make([]int, len(x.numbers)), after: after[f]}
		if x.faults[i].Kind == fault.Raced { // what an unusual line leaves behind concerns lines, not calls
			t.after, t.raced = nil, true
		}
		x.choose(i, t)
	}
	return nil
}

// families returns the number of the family of each fault: those of which one is wanted only by
// checks that want the other too are of one family.
func families(checks []*conformance.Check, faults []fault.Operator) []int {
	wantedBy := func(f fault.Operator) []string {
		var out []string
		for _, c := range checks {
			if slices.Contains(c.Faults, f.Name) {
				out = append(out, c.ID)
			}
		}
		return out
	}
	holds := func(all, some []string) bool {
		return !slices.ContainsFunc(some, func(id string) bool { return !slices.Contains(all, id) })
	}
	out := make([]int, len(faults))
	for i, f := range faults {
		out[i] = i
		for k, other := range faults[:i] {
			if a, b := wantedBy(f), wantedBy(other); holds(a, b) || holds(b, a) {
				out[i] = out[k]
				break
			}
		}
	}
	return out
}

// unusualKinds returns the kinds of lines that few cases of a version have, by version.
func unusualKinds(jobs []*Job) map[string]map[string]bool {
	cases, with := map[string]int{}, map[string]map[string]int{}
	for _, j := range jobs {
		v := j.Case.Version
		if cases[v]++; with[v] == nil {
			with[v] = map[string]int{}
		}
		for k := range fault.Kinds(j.Case) {
			with[v][k]++
		}
	}
	out := map[string]map[string]bool{}
	for v, kinds := range with {
		out[v] = map[string]bool{}
		for k, n := range kinds {
			out[v][k] = n*unusualShare <= cases[v]
		}
	}
	return out
}

// sampler chooses places of jobs.
type sampler struct {
	most     int // times that a fault is tried in a situation
	seed     uint64
	faults   []fault.Operator
	families []int // of the faults
	jobs     []sampled
	numbers  map[string]int // of situations
}

// tried counts how often a fault was tried in each situation, and how often one of its family was
// after each unusual line, by the number of the situation.
// Of a raced fault after is nil, because unusual lines make no difference to a call, and a place at
// a call of the client is a situation of its own.
type tried struct {
	here, after []int
	raced       bool
}

// sampled is a job with what is known of its case.
type sampled struct {
	*Job
	situations []situation   // by line
	calls      map[int]int   // the numbers of the situations at the client's lines, by line
	places     []faultPlaces // parallel to sampler.faults
	others     bool          // the case needs an ability that not all subjects have
}

// situation holds the numbers of a situation, without and with the unusual line before it; -1 for
// none.
type situation struct{ here, after int }

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
func (x *sampler) addJob(j *Job, unusual map[string]bool) {
	s := sampled{Job: j, others: !needsNoAbility(j.rec.Scenario)}
	s.calls = map[int]int{}
	read := j.Case.Lines()
	for i, at := range fault.Situations(j.Case, unusual) {
		if j.Case.Wire[i].Dir == fixtures.In {
			s.calls[i] = x.number(j.Case.Version + " call " + string(read[i].Kind))
		}
		n := situation{-1, -1}
		if at.Here != "" {
			n.here = x.number(j.Case.Version + " " + at.Here)
		}
		if at.After != "" {
			n.after = x.number(at.Here + " after " + at.After)
		}
		s.situations = append(s.situations, n)
	}
	for _, op := range x.faults {
		p := faultPlaces{places: op.Places(j.Case, j.rec.Scenario)}
		if len(p.places) > 0 {
			j.places[op.Name] = []int{}
		}
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

// number returns the number of a situation.
func (x *sampler) number(text string) int {
	n, known := x.numbers[text]
	if !known {
		n = len(x.numbers)
		x.numbers[text] = n
	}
	return n
}

// choose chooses the places of a fault.
func (x *sampler) choose(faultIndex int, t tried) {
	name := x.faults[faultIndex].Name
	h := fnv.New64a()
	_, _ = h.Write([]byte(name)) // it never fails
	random := rand.New(rand.NewPCG(x.seed, h.Sum64()))
	order := slices.DeleteFunc(random.Perm(len(x.jobs)), func(i int) bool { return len(x.jobs[i].places[faultIndex].places) == 0 })
	rare := len(order)*rareShare <= len(x.jobs) && x.faults[faultIndex].Kind != fault.Raced
	slices.SortStableFunc(order, func(a, b int) int {
		// A subject may not support the others, and then no fault is tried on them.
		return compareBool(x.jobs[a].others, x.jobs[b].others)
	})
	for _, i := range order {
		j := &x.jobs[i]
		p := j.places[faultIndex]
		switch {
		case p.kind == ofCase || p.kind == wholeWire && x.isNew(j, t):
			j.Job.places[name] = spread(p.places, x.most, random.IntN)
		case p.kind == atLine:
			j.Job.places[name] = x.newest(j, p.places, nil, x.most, t, random)
		}
	}
	for _, i := range order {
		j := &x.jobs[i]
		p := j.places[faultIndex]
		if p.kind == atLine {
			j.Job.places[name] = x.newest(j, p.places, j.Job.places[name], len(j.Case.Wire), t, random)
		}
		if rare && len(j.Job.places[name]) == 0 {
			j.Job.places[name] = spread(p.places, x.most, random.IntN)
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

// news returns in how many ways a situation was not tried often enough: as such, and after the
// unusual line.
func (x *sampler) news(s situation, t tried) int {
	n := 0
	if s.here >= 0 && t.here[s.here] < x.most {
		n++
	}
	if s.after >= 0 && t.after != nil && t.after[s.after] < x.most {
		n++
	}
	return n
}

// count counts a try in a situation.
func (t tried) count(s situation) {
	if s.here >= 0 {
		t.here[s.here]++
	}
	if s.after >= 0 && t.after != nil {
		t.after[s.after]++
	}
}

// isNew reports whether a fault of all lines was not tried often enough in the situation of one of
// them, and then counts it in all.
func (x *sampler) isNew(j *sampled, t tried) bool {
	if !slices.ContainsFunc(j.situations, func(s situation) bool { return x.news(s, t) > 0 }) {
		return false
	}
	seen := map[situation]bool{}
	for _, s := range j.situations {
		if !seen[s] {
			seen[s] = true
			t.count(s)
		}
	}
	return true
}

// newest adds at most n places to chosen: those whose situations were not tried often enough,
// first those that are new in more ways.
func (x *sampler) newest(j *sampled, places, chosen []int, n int, t tried, random *rand.Rand) []int {
	for range n {
		most, equal := 1, []int(nil)
		for _, p := range places {
			news := x.news(j.situation(p, t), t)
			if news < most || slices.Contains(chosen, p) {
				continue
			}
			if news > most {
				most, equal = news, nil
			}
			equal = append(equal, p)
		}
		if equal == nil {
			break
		}
		p := equal[random.IntN(len(equal))]
		t.count(j.situation(p, t))
		chosen = append(chosen, p)
	}
	slices.Sort(chosen)
	return chosen
}

// situation returns the situation at a place. A place at a step of the client, or behind the last
// line, has that of the output before it, unless the fault is raced.
func (j *sampled) situation(place int, t tried) situation {
	if n, is := j.calls[place]; is && t.raced {
		return situation{n, -1}
	}
	for i := min(place, len(j.situations)-1); i >= 0; i-- {
		if j.situations[i].here >= 0 {
			return j.situations[i]
		}
	}
	return situation{-1, -1}
}
