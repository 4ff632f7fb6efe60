package runner

import (
	"cmp"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/perform"
	"github.com/turnspec/turnspec/fakes/fault"
	"github.com/turnspec/turnspec/fixtures"
)

// faultSample is on how many cases of an external subject each fault is tried, unless
// Config.Exhaustive is set. Real processes take a second a run, and a subject that does not
// notice the end of its runtime takes perform.EndLimit.
const faultSample = 6

// slowSample is on how many cases a fault of slowFaults is tried.
const slowSample = 2

// slowFaults take seconds to tens of seconds a run, because the suite waits for the
// subject to give up.
var slowFaults = append([]string{"lost-end", "endless-end", "close-stdout", "no-end-by-term", "withdrawn-request"}, waitingFaults...)

// Why a fault is not tried on a subject that runs in real time.
const (
	sampledOut  = conformance.TriedElsewhere
	noCancel    = "the protocols of external subjects cannot cancel a call"
	alwaysReads = "the suite always reads what a program writes, because its replies come on the same stream"
	needsLimits = `the subject does not declare that it takes limits ("can": ["limits"]), and its own may be minutes`
	ownProgram  = "the subject was started before the run, so the suite cannot hide the runtime from it"
)

// untriable are the faults that are never tried in real time, with the reason.
var untriable = map[string]string{
	"no-reply": noCancel, "reply-without-id": noCancel, "no-handshake-in-time": noCancel, "nobody-listens": alwaysReads, "flood": alwaysReads,
}

// waitingFaults show their effect only after a limit of the subject has passed. The
// subject gets short limits then.
var waitingFaults = []string{"stall", "stop-ignored", "endless-retries", "missing-end", "close-stdin", "no-handshake", "long-pause", "long-tool"}

// Waits reports whether the named fault shows its effect only after a limit of the
// subject has passed.
func Waits(name string) bool { return slices.Contains(waitingFaults, name) }

// scaledLimits are the limits of a subject for waitingFaults, on a machine that is not busy.
var scaledLimits = adapters.Limits{Handshake: 3 * time.Second, Stop: 2 * time.Second, Idle: 2 * time.Second, Request: 2 * time.Second}

// whyUntried returns why the fault is not tried for the check in real time, or "".
func whyUntried(j Job, c *conformance.Check, name string, plain *conformance.Run) string {
	if why := untriable[name]; why != "" {
		return why
	}
	if p, is := j.Subject.(conformance.PlacedStandin); is && p.Standin() != "" && name == "no-program" {
		return ownProgram
	}
	if Waits(name) && plain.Limits == nil && !c.WithoutWaiting {
		return needsLimits
	}
	if j.Faults != nil && !slices.Contains(j.Faults, name) {
		return sampledOut
	}
	return ""
}

// withLimits adds to a recording what a waiting fault needs. In a second try a runtime that
// answers requests has more time to do so: on a busy machine an answer may take longer than
// scaledLimits allow.
func withLimits(rec perform.Recording, f *fault.Fault, plain *conformance.Run, again bool) perform.Recording {
	if f == nil || plain == nil || plain.Limits == nil || !Waits(f.Operator) {
		return rec
	}
	limits := limitsFor(plain)
	if again && f.Kind == fault.Transparent {
		limits.Request *= 4
	}
	rec.Limits = &limits
	return rec
}

// limitsFor returns scaledLimits, longer by as much as the machine is busy: a subject that keeps
// them must not fail because it gets no processor. The run without a fault is the measure. Its
// subject has a quarter of the limit to open its session; the slower of two runs may take four
// times as long.
func limitsFor(plain *conformance.Run) adapters.Limits {
	limits := scaledLimits
	i := slices.IndexFunc(plain.Steps, func(s conformance.StepResult) bool { return s.Step.Verb == fixtures.VerbOpen })
	if i < 0 {
		return limits
	}
	if slowness := float64(4*plain.Steps[i].For) / float64(limits.Handshake); slowness > 1 {
		for _, d := range []*time.Duration{&limits.Handshake, &limits.Stop, &limits.Idle, &limits.Request} {
			*d = time.Duration(float64(*d) * slowness).Round(time.Millisecond)
		}
	}
	return limits
}

// sampleJobs chooses the faults that are tried on each job of a subject that runs in
// real time: each fault on some cases, half of which need no optional ability of the
// subject.
func sampleJobs(cfg conformance.Config, s conformance.Subject, jobs []Job) error {
	if external, _ := tiersOf(cfg, s); !external || cfg.Exhaustive || len(cfg.Faults) > 0 {
		return nil
	}
	names := wantedFaults(cfg.Checks)
	simple, others := map[string][]int{}, map[string][]int{} // by fault, the jobs with a place for it
	for i, j := range jobs {
		if !sameSubject(j.Subject, s) {
			continue
		}
		jobs[i].Faults = []string{}
		if !performable(j) {
			continue
		}
		list := others
		if needsNoAbility(j.rec.Scenario) {
			list = simple
		}
		for _, name := range names {
			op, err := fault.Named(name)
			if err != nil {
				return err
			}
			if len(op.Places(j.Case, j.rec.Scenario)) > 0 {
				list[name] = append(list[name], i)
			}
		}
	}
	for _, name := range names {
		h := fnv.New64a()
		_, _ = h.Write([]byte(s.Name() + name))                 // it never fails
		pick := rand.New(rand.NewPCG(cfg.Seed, h.Sum64())).IntN // so that the faults fall on different cases
		sample := faultSample
		if slices.Contains(slowFaults, name) {
			sample = slowSample
		}
		n := max(sample/2, sample-len(others[name]))
		chosen := slices.Concat(spreadOver(simple[name], n, pick), spreadOver(others[name], max(1, sample-min(n, len(simple[name]))), pick))
		for _, i := range chosen {
			jobs[i].Faults = append(jobs[i].Faults, name)
		}
	}
	for _, c := range cfg.Checks {
		if c.FaultShows != nil {
			addTelling(c, s, jobs)
		}
	}
	return nil
}

// performable reports whether the subject can perform the case of a job, as far as that is
// known before the run.
func performable(j Job) bool {
	if j.rec == nil {
		return true
	}
	if j.rec.Scenario.Inexpressible(j.Case.Runtime) != "" {
		return false
	}
	d, is := j.Subject.(conformance.Decliner)
	if !is {
		return true
	}
	_, err := d.Declines(j.rec.Scenario)
	return err == nil
}

// addTelling adds the faults of a check to two of the cases in which they show
// something.
func addTelling(c *conformance.Check, s conformance.Subject, jobs []Job) {
	var telling []int
	for i, j := range jobs {
		if sameSubject(j.Subject, s) && needsNoAbility(j.rec.Scenario) && performable(j) && c.FaultShows(j.Case) {
			telling = append(telling, i)
		}
	}
	for _, i := range spreadOver(telling, slowSample, func(n int) int { return n / 2 }) {
		for _, name := range c.Faults {
			if !slices.Contains(jobs[i].Faults, name) {
				jobs[i].Faults = append(jobs[i].Faults, name)
			}
		}
	}
}

// spreadOver picks one of each of n equal parts.
func spreadOver(all []int, n int, pick func(n int) int) []int {
	if len(all) <= n {
		return all
	}
	out := make([]int, n)
	for i := range out {
		from, to := i*len(all)/n, (i+1)*len(all)/n
		out[i] = all[from+pick(to-from)]
	}
	return out
}

// sameSubject reports whether two subjects are the same. Their types may be uncomparable.
func sameSubject(a, b conformance.Subject) bool {
	return a.Name() == b.Name() && a.Runtime() == b.Runtime()
}

// Cases returns the ids of the cases of the configuration, each once, in the order in which
// they are begun. It runs nothing.
func Cases(cfg conformance.Config) ([]string, error) {
	jobs, err := Jobs(cfg)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, i := range runOrder(jobs) {
		if id := jobs[i].Case.ID; !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out, nil
}

// runOrder returns the indexes of the jobs in the order in which they are begun: first the
// cheapest case of each topic, for verdicts within seconds, then those with the most slow
// faults, because one that begins last would keep the others waiting.
func runOrder(jobs []Job) []int {
	cheapest := map[string]int{}
	for i, j := range jobs {
		topic, _, _ := strings.Cut(j.Case.Scenario, "/")
		if k, ok := cheapest[topic]; len(j.Faults) == 0 && performable(j) && (!ok || jobCost(j) < jobCost(jobs[k])) {
			cheapest[topic] = i
		}
	}
	const soon = 1 << 10 // more than there are slow faults
	urgency := make([]int, len(jobs))
	order := make([]int, len(jobs))
	for i, j := range jobs {
		order[i] = i
		for _, name := range j.Faults {
			if slices.Contains(slowFaults, name) {
				urgency[i]++
			}
		}
	}
	for _, i := range cheapest {
		urgency[i] = soon
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(urgency[b], urgency[a]) })
	return order
}

// wantedFaults returns the faults that the checks want, each once.
func wantedFaults(checks []*conformance.Check) []string {
	var out []string
	for _, c := range checks {
		for _, name := range c.Faults {
			if !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	return out
}

// needsNoAbility reports whether the client of a scenario only sends messages and
// answers questions.
func needsNoAbility(s *fixtures.Scenario) bool {
	if len(s.Tools)+len(s.Hooks)+len(s.Servers) > 0 || s.Components != nil || s.Schema != nil || s.Policy != nil {
		return false
	}
	return !slices.ContainsFunc(s.Client, func(step fixtures.Step) bool {
		switch step.Verb {
		case fixtures.VerbWait, fixtures.VerbClose, fixtures.VerbWrite, fixtures.VerbRelease:
			return false
		case fixtures.VerbSend:
			return len(step.Files) > 0 || step.What != ""
		case fixtures.VerbAnswer:
			return step.Value != nil || step.What == fixtures.AnswerSession || step.What == fixtures.AnswerAlways
		case fixtures.VerbOpen:
			return step.What != ""
		}
		return true
	})
}

// timingOf returns how long a run took.
func timingOf(r *conformance.Run, took time.Duration) conformance.Timing {
	t := conformance.Timing{Case: r.Case.ID, Subject: r.Subject, Took: took, Waits: r.Waits}
	if r.Fault != nil {
		t.Fault = r.Fault.Operator
	}
	return t
}

// moveFaults moves the faults of the jobs that the subject does not support to others.
func moveFaults(cfg conformance.Config, jobs []Job, unsupported []bool) error {
	for from := range jobs {
		if !unsupported[from] {
			continue
		}
		for _, name := range jobs[from].Faults {
			op, err := fault.Named(name)
			if err != nil {
				return err
			}
			h := fnv.New64a()
			_, _ = h.Write([]byte(jobs[from].Case.ID + name)) // it never fails
			first := rand.New(rand.NewPCG(cfg.Seed, h.Sum64())).IntN(len(jobs))
			for k := range jobs {
				to := (first + k) % len(jobs)
				j := &jobs[to]
				if unsupported[to] || !sameSubject(j.Subject, jobs[from].Subject) || j.Faults == nil || slices.Contains(j.Faults, name) || j.rec == nil ||
					!performable(*j) || len(op.Places(j.Case, j.rec.Scenario)) == 0 {
					continue
				}
				j.Faults = append(j.Faults, name)
				break
			}
		}
	}
	return nil
}

// TriedInRealTime reports whether a fault is tried on external subjects that take
// limits.
func TriedInRealTime(operator string) bool { return untriable[operator] == "" }
