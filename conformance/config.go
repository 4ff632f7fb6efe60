package conformance

import (
	"path"
	"slices"
	"strings"
	"time"

	"github.com/turnspec/turnspec/fixtures"
)

// Config configures a run of the suite.
type Config struct {
	Corpus   fixtures.Corpus
	Subjects []Subject
	Checks   []*Check
	Cases    []string // globs over case ids; none: all
	Tiers    []Tier   // none: witness and timing, and golden if a check is of that tier
	// Places is how often each fault is tried in each situation of a version of a runtime,
	// such as while a tool runs; 0: once. A run of fewer than a hundred cases of a subject
	// tries each fault at so many places of each case instead. Seed picks cases and places.
	Places int
	Seed   uint64
	// Exhaustive tries each fault at all places of each case, which takes minutes.
	// Places and Seed are then ignored.
	Exhaustive bool
	// Faults are the faults that are tried, on each case that has a place for them; none:
	// all that the checks want, in real time on a sample of the cases.
	Faults  []FaultAt
	Workers int // cases that run at the same time; 0: one
	// FailOnFlaky makes flaky verdicts fail the run. Only runs in real time have any.
	FailOnFlaky bool
	// SingleTry keeps failures in real time from being tried a second time, so that no
	// verdict is flaky.
	SingleTry bool
	// KnownFailures do not fail the run; see ParseKnownFailures.
	KnownFailures []KnownFailure
	Shard         Shard // the part of the cases to run; zero: all
	// KeepRuns keeps Result.Trial of results that did not fail too. Over the whole
	// corpus that takes hundreds of megabytes.
	KeepRuns bool
	// Isolate runs cases in worker processes, so that a subject that panics in one
	// of its goroutines, or exits, fails its case and no other. A worker is this
	// program, started again with the same arguments. In a test Isolate is t.Name(), so
	// that the worker runs that test; elsewhere any name. Empty: cases run in this
	// process.
	Isolate string
	// InProcess keeps package suite from running cases in worker processes. A debugger,
	// a coverage profile and the race detector see only the test's own process.
	InProcess bool
	// TimeBudget is how long the cases and faults of subjects that run in real time may take; 0: as
	// long as they do. Cases and faults that have not begun by then are not tried:
	// Report.LeftOut counts them. Cases come before faults.
	TimeBudget time.Duration
	// RealTimeLimit is how long, in real time, a replay in virtual time may take; 0: two
	// minutes. It takes milliseconds, unless the subject spins.
	RealTimeLimit time.Duration
	// DrawChat draws the chat of a run in HTML reports; nil: they show the events without
	// a chat.
	DrawChat func(*Run) []Bubble
	// Timing is called after each run of a case; nil: for none. It must be safe for
	// concurrent use.
	Timing func(Timing)
	// Judged is called with the results of each case, by one goroutine at a time. The first
	// cases are one of each topic. In real time the results of each case without a fault come
	// first, for all cases, and then those with faults of the cases that have some.
	Judged func(done, total int, results []Result)
	// Progress is called after each case, by one goroutine at a time. In real time done and total
	// count the cases without faults, and then those with faults, which id says then.
	Progress func(done, total int, id string)
}

// Report is the result of a whole run.
type Report struct {
	Results   []Result
	Cases     int
	FaultRuns int // runs with a fault: one for each case, operator and place
	// Missing are the checks that should give a verdict on some case of the run and gave
	// none. The caller of the run sets it, because only the caller knows what its corpus
	// shows. One of them fails the suite.
	Missing       []*Check
	KnownFailures []KnownFailureUse
	Shard         Shard
	Timings       []Timing // of the runs, with faults and without
	// Interrupted reports that the run ended before all cases were done. Cases is then how
	// many were.
	Interrupted bool
	// LeftOut is what was not tried because Config.TimeBudget had passed.
	LeftOut     LeftOut
	FailOnFlaky bool // of the configuration
}

// LeftOut counts what a run did not try.
type LeftOut struct {
	Cases  int // without any run
	Faults int // runs with a fault, of cases that were tried without
}

// Any reports whether something was left out.
func (l LeftOut) Any() bool { return l != LeftOut{} }

// Timing is how long a run took, in real time. A run in virtual time takes milliseconds,
// unless the subject spins or hangs.
type Timing struct {
	Case, Subject string
	Fault         string // the operator; "": none
	Took          time.Duration
	Waits         []Wait
}

// Failed reports whether the suite failed. A run in which no check gave a verdict
// fails too.
func (r *Report) Failed() bool {
	if len(r.Missing) > 0 || len(r.Stale()) > 0 || !r.Shard.Partial() && WhyUnjudged(r.Results) != "" {
		return true
	}
	return slices.ContainsFunc(r.Results, func(x Result) bool { return x.Fails(r.FailOnFlaky) })
}

// Stale returns the known failures that do not fail any more. It is empty for a
// shard, and if something was left out, because only a whole run can determine that.
func (r *Report) Stale() []KnownFailureUse {
	if r.Shard.Partial() || r.LeftOut.Any() {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(r.KnownFailures), func(u KnownFailureUse) bool { return u.Stale() == "" })
}

// Match reports whether a glob names a case: it matches the id or a run of its
// elements, such as codex/*, permission, permission/*, deny-then-stop.
func Match(glob, id string) bool {
	glob = strings.TrimSuffix(glob, "/")
	parts := strings.Split(id, "/")
	n := 1 + strings.Count(glob, "/") // no * matches a slash
	for i := 0; i+n <= len(parts); i++ {
		if ok, _ := path.Match(glob, strings.Join(parts[i:i+n], "/")); ok {
			return true
		}
	}
	return false
}

// Tier reports whether the config asks for a tier.
func (cfg Config) Tier(t Tier) bool { return len(cfg.Tiers) == 0 || slices.Contains(cfg.Tiers, t) }

// TimeIsOver is the reason of a verdict NotTried if Config.TimeBudget had passed.
const TimeIsOver = "the time for the run was over; --full tries everything"

// TriedElsewhere is the reason of a verdict NotTried of a check whose faults are tried on other
// cases of the run.
const TriedElsewhere = "its faults are tried on other cases; --exhaustive tries all"
