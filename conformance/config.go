package conformance

import (
	"path"
	"slices"
	"strings"
	"time"

	"github.com/turnspec/turnspec/fixtures"
)

// Config says what is run.
type Config struct {
	Corpus   fixtures.Corpus
	Subjects []Subject
	Checks   []*Check
	Cases    []string // globs over case ids; none: all
	Tiers    []Tier   // none: witness and timing, and golden for the reference adapters
	// Reference reports that the subjects are the reference adapters. Then the
	// checks of the tier golden apply, which test package replay with the events of
	// a run: a defect of ours must not fail anybody else's adapter.
	Reference bool
	// Golden adds the comparison with the golden files to Reference, which it
	// implies.
	Golden bool
	// Places bounds how many places of a case each fault is tried at; 0: all. Seed
	// picks them; 0: spread evenly.
	Places  int
	Seed    uint64
	Workers int
	// Known are failures that do not fail the run; see ParseKnown.
	KnownFailures []KnownFailure
	Shard         Shard // the part of the cases that is run; zero: all
	// Runs keeps the runs of what did not fail too, in Result.Trial: hundreds of
	// megabytes over the whole corpus.
	KeepRuns bool
	// Isolate plays in worker processes: a subject that panics in a goroutine of
	// its own, or ends the program, fails its case and no other. A worker is this
	// program, started anew with the same arguments; in a test give t.Name(), by
	// which it is run there. Empty: all is played in this process.
	Isolate string
	// Rest is how long, in real time, a play in virtual time may take; 0: two
	// minutes. It takes milliseconds, but for a subject that spins.
	RealTimeLimit time.Duration
	// Progress is called after each case, from one goroutine at a time.
	Progress func(done, total int, id string)
}

// Report is the outcome of a run.
type Report struct {
	Results   []Result
	Cases     int
	FaultRuns int // runs with a fault: triples of a case, an operator and a place
	// Missing are the checks that gave no verdict on any case: they looked at
	// nothing, or all they looked at was unrecorded or not expressible. A suite
	// that holds one has failed. Where only some cases were asked for (Config's
	// Cases, or a shard) it is empty, since those need not exercise every check.
	Missing       []*Check
	KnownFailures []KnownFailureUse
	Shard         Shard
}

// Failed reports whether the suite failed.
func (r *Report) Failed() bool {
	if len(r.Missing) > 0 || len(r.Stale()) > 0 {
		return true
	}
	return slices.ContainsFunc(r.Results, func(x Result) bool {
		return x.Verdict.Bad() && x.KnownFailure == nil && x.Check.Severity == Must
	})
}

// Stale are the known failures that fail no more. A shard cannot tell.
func (r *Report) Stale() []KnownFailureUse {
	if r.Shard.Partial() {
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

func (cfg Config) Tier(t Tier) bool { return len(cfg.Tiers) == 0 || slices.Contains(cfg.Tiers, t) }
