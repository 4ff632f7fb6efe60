package explore

import (
	"hash/fnv"
	"maps"
	"strings"

	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/recorder/census"
)

// shapes is a set of wire shapes, by their hashes. A shape is a kind of line with the
// members that it has, or a pair of kinds that follow one another.
type shapes map[uint64]bool

func shapeHash(parts ...string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(strings.Join(parts, "\x00"))) // it never fails
	return h.Sum64()
}

// shapesOf returns the shapes of a case.
func shapesOf(c *fixtures.Case) shapes {
	out := shapes{}
	last := map[int]string{} // by process
	for _, m := range census.Messages(c) {
		kind := "out " + m.Kind
		if m.In {
			kind = "in " + m.Kind
		}
		process := c.Wire[m.Line].Process
		out[shapeHash("pair", last[process], kind)] = true
		last[process] = kind
		if !m.In {
			out[shapeHash(append([]string{"members", kind}, census.Paths(m.Value)...)...)] = true
		}
	}
	return out
}

// corpusShapes returns the wire shapes that the cases of a corpus show of a runtime.
func corpusShapes(corpus fixtures.Corpus, runtime string) (shapes, error) {
	cases, err := corpus.CasesWhere(func(id string) bool {
		rt, _, _ := fixtures.SplitCaseID(id)
		return rt == runtime
	})
	if err != nil {
		return nil, err
	}
	out := shapes{}
	for _, c := range cases {
		maps.Copy(out, shapesOf(c))
	}
	return out, nil
}
