package runner_test

import (
	"fmt"
	"slices"
	"testing"
	"testing/quick"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/runner"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/racesample"
)

// TestEachCaseInOneShard checks that each case is in exactly one shard, with all its
// subjects and in order, for any number and size of cases and any number of shards.
func TestEachCaseInOneShard(t *testing.T) {
	holds := func(sizes []uint8, shards uint8) bool {
		total := int(shards)%40 + 1
		var jobs []runner.Job
		for _, name := range []string{"a", "b"} {
			for i, n := range sizes {
				c := &fixtures.Case{ID: fmt.Sprintf("codex/1/x/%03d", i), Wire: make([]fixtures.WireLine, n)}
				jobs = append(jobs, runner.Job{Subject: called{name: name}, Case: c})
			}
		}
		seen := map[string]int{}
		for i := range total {
			at := -1
			for _, j := range runner.Take(conformance.Shard{Index: i + 1, Total: total}, jobs) {
				now := slices.IndexFunc(jobs, func(other runner.Job) bool { return other.Subject == j.Subject && other.Case == j.Case })
				if now <= at {
					return false
				}
				at = now
				if of, ok := seen[j.Case.ID]; ok && of != i {
					return false
				}
				seen[j.Case.ID] = i
				seen[j.Subject.Name()+j.Case.ID]++
			}
		}
		for _, j := range jobs {
			if seen[j.Subject.Name()+j.Case.ID] != 1 {
				return false
			}
		}
		return true
	}
	if err := quick.Check(holds, nil); err != nil {
		t.Error(err)
	}
}

type called struct {
	conformance.Subject
	name string
}

func (c called) Name() string { return c.name }

func (called) Runtime() string { return "codex" }

// TestShardsAreBalanced checks that no shard of the real corpus has 25 % more lines
// to play than another.
func TestShardsAreBalanced(t *testing.T) {
	if racesample.Enabled {
		t.Skip("it reads the whole corpus to add up numbers, which takes a minute with the race detector; it is run without")
	}
	g := NewWithT(t)
	cases, err := fixtures.Cases()
	g.Expect(err).NotTo(HaveOccurred())
	var jobs []runner.Job
	for _, c := range cases {
		jobs = append(jobs, runner.Job{Subject: called{name: "a"}, Case: c})
	}
	var lines []int
	for i := range 5 {
		n := 0
		for _, j := range runner.Take(conformance.Shard{Index: i + 1, Total: 5}, jobs) {
			n += len(j.Case.Wire)
		}
		lines = append(lines, n)
	}
	g.Expect(slices.Max(lines)*4).To(BeNumerically("<=", slices.Min(lines)*5), "%v", lines)
}

func TestParseShard(t *testing.T) {
	for name, x := range map[string]struct {
		text string
		env  map[string]string
		want string // the shard, or the error
	}{
		"given":                   {text: "2/5", want: "2/5"},
		"given, not from outside": {text: "2/5", env: map[string]string{"CI_NODE_INDEX": "1", "CI_NODE_TOTAL": "9"}, want: "2/5"},
		"GitLab":                  {text: "auto", env: map[string]string{"CI_NODE_INDEX": "3", "CI_NODE_TOTAL": "3"}, want: "3/3"},
		"GitLab, not parallel":    {text: "auto", env: map[string]string{"CI_NODE_TOTAL": "1"}, want: "1/1"},
		"Buildkite":               {text: "auto", env: map[string]string{"BUILDKITE_PARALLEL_JOB": "0", "BUILDKITE_PARALLEL_JOB_COUNT": "4"}, want: "1/4"},
		"CircleCI":                {text: "auto", env: map[string]string{"CIRCLE_NODE_INDEX": "3", "CIRCLE_NODE_TOTAL": "4"}, want: "4/4"},
		"Kubernetes":              {text: "auto/6", env: map[string]string{"JOB_COMPLETION_INDEX": "5"}, want: "6/6"},
		"a total of one's own":    {text: "auto/6", env: map[string]string{"CIRCLE_NODE_INDEX": "0", "CIRCLE_NODE_TOTAL": "2"}, want: "1/6"},
		"no total":                {text: "auto", env: map[string]string{"JOB_COMPLETION_INDEX": "5"}, want: `shard "auto": Kubernetes sets JOB_COMPLETION_INDEX, but there is no total; write auto/TOTAL`},
		"half":                    {text: "auto", env: map[string]string{"CI_NODE_INDEX": "1"}, want: `shard "auto": GitLab sets CI_NODE_INDEX, but CI_NODE_TOTAL is not set`},
		"nothing set":             {text: "auto", want: `shard "auto": none of CI_NODE_INDEX, BUILDKITE_PARALLEL_JOB, CIRCLE_NODE_INDEX, JOB_COMPLETION_INDEX is set; write INDEX/TOTAL`},
		"beyond":                  {text: "auto/3", env: map[string]string{"JOB_COMPLETION_INDEX": "3"}, want: "JOB_COMPLETION_INDEX=3: shard 4/3: the index must be from 1 to 3"},
		"no number set":           {text: "auto", env: map[string]string{"CI_NODE_INDEX": "x", "CI_NODE_TOTAL": "9"}, want: `shard "auto": CI_NODE_INDEX="x" of "9" are not an index and a total`},
		"from nought":             {text: "0/5", want: "shard 0/5: the index must be from 1 to 5"},
		"too far":                 {text: "6/5", want: "shard 6/5: the index must be from 1 to 5"},
		"of none":                 {text: "1/0", want: `shard "1/0": want INDEX/TOTAL such as 2/5, auto, or auto/TOTAL`},
		"a word":                  {text: "first", want: `shard "first": want INDEX/TOTAL such as 2/5, auto, or auto/TOTAL`},
	} {
		s, err := conformance.ParseShard(x.text, func(k string) string { return x.env[k] })
		got := s.String()
		if err != nil {
			got = err.Error()
		}
		if got != x.want {
			t.Errorf("%s: %s, want %s", name, got, x.want)
		}
	}
}

// TestShardOfARun checks that a shard reports neither missing checks nor stale known
// failures, and that it may be empty.
func TestShardOfARun(t *testing.T) {
	g := NewWithT(t)
	cfg := conformance.Config{
		Corpus: fixtures.Embedded(), Subjects: []conformance.Subject{reference()}, Checks: []*conformance.Check{never, always},
		Cases: []string{"claude/newest/text/plain"}, Shard: conformance.Shard{Index: 1, Total: 2},
		KnownFailures: []conformance.KnownFailure{{Check: "test.always", Case: "*", Reason: "x"}},
	}
	cases := 0
	for cfg.Shard.Index = 1; cfg.Shard.Index <= 2; cfg.Shard.Index++ {
		rep, err := runner.Run(t.Context(), cfg)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(rep.Missing).To(BeEmpty())
		g.Expect(rep.Stale()).To(BeEmpty())
		g.Expect(rep.Failed()).To(BeFalse())
		cases += rep.Cases
	}
	g.Expect(cases).To(Equal(1))
	cfg.Shard = conformance.Shard{Index: 3, Total: 2}
	_, err := runner.Run(t.Context(), cfg)
	g.Expect(err).To(MatchError("shard 3/2: the index must be from 1 to 2"))
}

// TestCostOfRealTime checks that the estimate for a program counts the faults of each job,
// the slow ones more, and that a case that the program declines costs almost nothing.
func TestCostOfRealTime(t *testing.T) {
	g := NewWithT(t)
	c, err := fixtures.LoadCase("claude/newest/text/plain")
	g.Expect(err).NotTo(HaveOccurred())
	cost := func(faults ...string) int {
		return runner.JobCost(runner.Job{Subject: called{name: "a"}, Case: c, Faults: append([]string{}, faults...)})
	}
	plain := cost()
	g.Expect(cost("kill", "exit")).To(Equal(3 * plain))
	g.Expect(cost("stall")).To(BeNumerically(">", 5*plain))
}
