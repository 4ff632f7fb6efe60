package conformance

import (
	"fmt"
	"strconv"
	"strings"
)

// Shard is a part of the cases: the Index-th of Total, counted from 1. The zero
// value is all. Each case is in exactly one shard, for any total, as long as the
// configuration is the same otherwise.
type Shard struct {
	Index int `json:"index"`
	Total int `json:"total"`
}

// Partial reports whether a shard leaves cases to others. What only the whole
// can tell (checks without a verdict, stale known failures) a partial run does
// not judge.
func (s Shard) Partial() bool { return s.Total > 1 }

func (s Shard) String() string { return fmt.Sprintf("%d/%d", s.Index, s.Total) }

func (s Shard) Validate() error {
	switch {
	case s == Shard{}:
		return nil
	case s.Total < 1:
		return fmt.Errorf("shard %v: there is at least one", s)
	case s.Index < 1 || s.Index > s.Total:
		return fmt.Errorf("shard %v: it is counted from 1 to %d", s, s.Total)
	}
	return nil
}

// shardVariables are what the systems that run jobs side by side tell each job.
var shardVariables = []struct {
	system, index, total string
	first                int // the index of the first
}{
	{"GitLab", "CI_NODE_INDEX", "CI_NODE_TOTAL", 1},
	{"Buildkite", "BUILDKITE_PARALLEL_JOB", "BUILDKITE_PARALLEL_JOB_COUNT", 0},
	{"CircleCI", "CIRCLE_NODE_INDEX", "CIRCLE_NODE_TOTAL", 0},
	// An indexed job tells its index only: the total comes with auto/N.
	{"Kubernetes", "JOB_COMPLETION_INDEX", "", 0},
}

// ParseShard reads "2/5", or "auto": what the variables of GitLab, Buildkite or
// CircleCI say, or "auto/5" where the system tells the index alone, as an
// indexed job of Kubernetes does. It is never taken from the environment unasked: a run
// that leaves cases out by itself would be green for no reason.
func ParseShard(text string, getenv func(string) string) (Shard, error) {
	index, total, both := strings.Cut(text, "/")
	if index == "auto" {
		return shardFromEnv(text, total, getenv)
	}
	var s Shard
	var err, err2 error
	s.Index, err = strconv.Atoi(index)
	s.Total, err2 = strconv.Atoi(total)
	if !both || err != nil || err2 != nil || s.Total < 1 {
		return Shard{}, fmt.Errorf("shard %q: want INDEX/TOTAL such as 2/5, auto, or auto/TOTAL", text)
	}
	return s, s.Validate()
}

func shardFromEnv(text, total string, getenv func(string) string) (Shard, error) {
	var names []string
	for _, v := range shardVariables {
		index, of, ofName := getenv(v.index), total, "--shard"
		if of == "" && v.total != "" {
			of, ofName = getenv(v.total), v.total
		}
		if index == "" && of == "1" && ofName == v.total {
			return Shard{1, 1}, nil // a job that has no siblings may have no index
		}
		names = append(names, v.index)
		switch {
		case index == "":
			continue
		case of == "":
			if v.total != "" {
				return Shard{}, fmt.Errorf("shard %q: %s sets %s, but %s is not set", text, v.system, v.index, v.total)
			}
			return Shard{}, fmt.Errorf("shard %q: %s sets %s, but nothing says how many there are; write auto/TOTAL", text, v.system, v.index)
		}
		i, err := strconv.Atoi(index)
		n, err2 := strconv.Atoi(of)
		if err != nil || err2 != nil || n < 1 {
			return Shard{}, fmt.Errorf("shard %q: %s=%q of %q are no numbers to count with", text, v.index, index, of)
		}
		s := Shard{i + 1 - v.first, n}
		if err := s.Validate(); err != nil {
			return Shard{}, fmt.Errorf("%s=%s: %w", v.index, index, err)
		}
		return s, nil
	}
	return Shard{}, fmt.Errorf("shard %q: none of %s is set; write INDEX/TOTAL", text, strings.Join(names, ", "))
}
