package conformance

import (
	"fmt"
	"strconv"
	"strings"
)

// Shard is a part of the work: number Index of Total, counted from 1. The zero
// value is all of it. Each case is in exactly one of the shards of a total, if the
// rest of the configuration is the same.
type Shard struct {
	Index int `json:"index"`
	Total int `json:"total"`
}

// Partial reports whether there are other shards.
func (s Shard) Partial() bool { return s.Total > 1 }

func (s Shard) String() string { return fmt.Sprintf("%d/%d", s.Index, s.Total) }

// Validate returns an error unless the shard is zero or its index is within 1 and
// its total.
func (s Shard) Validate() error {
	switch {
	case s == Shard{}:
		return nil
	case s.Total < 1:
		return fmt.Errorf("shard %v: the total must be at least 1", s)
	case s.Index < 1 || s.Index > s.Total:
		return fmt.Errorf("shard %v: the index must be from 1 to %d", s, s.Total)
	}
	return nil
}

// shardVariables are the variables with which CI systems number parallel jobs.
var shardVariables = []struct {
	system, index, total string
	first                int // the index of the first
}{
	{"GitLab", "CI_NODE_INDEX", "CI_NODE_TOTAL", 1},
	{"Buildkite", "BUILDKITE_PARALLEL_JOB", "BUILDKITE_PARALLEL_JOB_COUNT", 0},
	{"CircleCI", "CIRCLE_NODE_INDEX", "CIRCLE_NODE_TOTAL", 0},
	// An indexed job knows its index only: the total is given by auto/N.
	{"Kubernetes", "JOB_COMPLETION_INDEX", "", 0},
}

// ParseShard parses "2/5", "auto" or "auto/5". With auto it takes index and total
// from the variables of GitLab, Buildkite or CircleCI; with auto/5 it takes the
// index only, as an indexed job of Kubernetes has no total.
//
// The environment is used only if the text begins with auto: a run that left out
// cases without a request would pass for the wrong reason.
func ParseShard(text string, getenv func(string) string) (Shard, error) {
	index, total, both := strings.Cut(text, "/")
	if index == "auto" {
		return shardFromEnv(text, total, getenv)
	}
	var s Shard
	var indexErr, totalErr error
	s.Index, indexErr = strconv.Atoi(index)
	s.Total, totalErr = strconv.Atoi(total)
	if !both || indexErr != nil || totalErr != nil || s.Total < 1 {
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
			return Shard{1, 1}, nil // a single job may have no index
		}
		names = append(names, v.index)
		switch {
		case index == "":
			continue
		case of == "":
			if v.total != "" {
				return Shard{}, fmt.Errorf("shard %q: %s sets %s, but %s is not set", text, v.system, v.index, v.total)
			}
			return Shard{}, fmt.Errorf("shard %q: %s sets %s, but there is no total; write auto/TOTAL", text, v.system, v.index)
		}
		i, indexErr := strconv.Atoi(index)
		n, totalErr := strconv.Atoi(of)
		if indexErr != nil || totalErr != nil || n < 1 {
			return Shard{}, fmt.Errorf("shard %q: %s=%q of %q are not an index and a total", text, v.index, index, of)
		}
		s := Shard{i + 1 - v.first, n}
		if err := s.Validate(); err != nil {
			return Shard{}, fmt.Errorf("%s=%s: %w", v.index, index, err)
		}
		return s, nil
	}
	return Shard{}, fmt.Errorf("shard %q: none of %s is set; write INDEX/TOTAL", text, strings.Join(names, ", "))
}
