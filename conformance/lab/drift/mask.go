package drift

import (
	"strings"

	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/wire/runtimes"
	"github.com/turnspec/turnspec/recorder/compare"
)

// withoutChance returns the sides with the same recording for each scenario whose
// recordings differ only by chance, as `turnspec record --check` decides it.
func (cfg *Config) withoutChance() Config {
	out := *cfg
	out.To.Cases = map[string]*fixtures.Case{}
	for id, to := range cfg.To.Cases {
		from := cfg.From.Cases[id]
		if from != nil && cfg.differ(from, to) {
			from = nil
		}
		if out.To.Cases[id] = from; from == nil {
			out.To.Cases[id] = to
		}
	}
	return out
}

// differ reports whether two recordings differ by more than chance.
func (cfg *Config) differ(from, to *fixtures.Case) bool {
	key := [2]*fixtures.Case{from, to}
	d, known := cfg.cache.differ[key]
	if !known {
		d = !haveSimilarSize(from, to) || !compare.Same(from, to)
		cfg.cache.differ[key] = d
	}
	return d
}

// haveSimilarSize reports whether what the runtime sent differs little in size. It
// avoids the slow comparison of recordings that differ in every line.
func haveSimilarSize(a, b *fixtures.Case) bool {
	x, y := bytesSent(a), bytesSent(b)
	const chance, share = 4 << 10, 32
	return max(x, y)-min(x, y) <= chance+max(x, y)/share
}

func bytesSent(c *fixtures.Case) (n int) {
	for _, l := range c.Wire {
		if l.Dir == fixtures.Out {
			n += len(l.Bytes)
		}
	}
	return n
}

// cache holds what findChanges finds about pairs of recordings, because it is called
// again when some of them have been replaced.
type cache struct {
	differ map[[2]*fixtures.Case]bool
	events map[[2]*fixtures.Case][]Change
}

func newCache() *cache {
	return &cache{map[[2]*fixtures.Case]bool{}, map[[2]*fixtures.Case][]Change{}}
}

// isChance reports whether a runtime sends messages of the kind by chance.
func isChance(runtime, kind string) bool {
	rt := runtimes.Find(runtime)
	if rt == nil {
		return false
	}
	name := strings.TrimPrefix(kind, "out ")
	_, ignored := rt.Compare.Ignored[name]
	_, repeated := rt.Compare.Repeats[name]
	return ignored || repeated
}

// hasChanceValues reports whether the values of a member depend on chance.
func hasChanceValues(path string) bool {
	name := strings.TrimSuffix(path[strings.LastIndexByte(path, '.')+1:], "[]")
	return compare.IsNoise(name) || compare.HoldsID(name)
}
