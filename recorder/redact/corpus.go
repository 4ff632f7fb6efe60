package redact

import (
	"hash/maphash"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/turnspec/turnspec/fixtures"
)

// gram is how many words in a row must be ours to be taken for ours wherever
// they stand. Fewer happen by chance in any prose.
const gram = 4

// corpus knows the words that are ours: the scenario's, the client's, and what
// commands wrote.
type corpus struct {
	seed  maphash.Seed
	grams map[uint64]bool
	short map[uint64]bool // whole texts of fewer words
	have  map[string]bool
}

func (c *corpus) init() {
	c.seed = maphash.MakeSeed()
	c.grams, c.short, c.have = map[uint64]bool{}, map[uint64]bool{}, map[string]bool{}
}

// add learns a text, and the form that it has as JSON within a string.
func (c *corpus) add(text string) {
	if len(text) < 3 || c.have[text] {
		return
	}
	c.have[text] = true
	c.learn(text)
	if strings.ContainsAny(text, "\n\t\"\\") {
		if j, err := json.Marshal(text); err == nil {
			c.learn(string(j))
		}
	}
	if strings.Contains(text, "\n") {
		for line := range strings.Lines(text) {
			c.learn(line)
		}
	}
}

func (c *corpus) learn(text string) {
	toks := split(text)
	if 1 <= len(toks) && len(toks) < gram {
		c.short[c.hash(text, toks)] = true
	}
	for i := 0; i+gram <= len(toks); i++ {
		c.grams[c.hash(text, toks[i:i+gram])] = true
	}
}

func (c *corpus) hash(text string, toks []wordPos) uint64 {
	var h maphash.Hash
	h.SetSeed(c.seed)
	for _, t := range toks {
		_, _ = h.WriteString(text[t.start:t.end])
		_ = h.WriteByte(0)
	}
	return h.Sum64()
}

// covered says of each word whether it is ours.
func (c *corpus) covered(text string, toks []wordPos) []bool {
	out := make([]bool, len(toks))
	mark := func(i, n int) {
		for ; n > 0; n-- {
			out[i] = true
			i++
		}
	}
	for i := range toks {
		if i+gram <= len(toks) && c.grams[c.hash(text, toks[i:i+gram])] {
			mark(i, gram)
		}
		for n := 1; n < gram && i+n <= len(toks); n++ {
			apart := delimited
			if n == 1 {
				apart = alone
			}
			if !out[i] && apart(text, toks[i].start, toks[i+n-1].end) && c.short[c.hash(text, toks[i:i+n])] {
				mark(i, n)
			}
		}
	}
	return out
}

// delimited reports whether a few words stand apart: in quotes, on a line. Amid
// a sentence they are the sentence's.
func delimited(text string, start, end int) bool {
	const marks = "\"'`\n<>()[]{}"
	before := strings.TrimRight(text[:start], " .,:;-")
	after := strings.TrimLeft(text[end:], " .,:;!?-")
	return (before == "" || strings.IndexByte(marks, before[len(before)-1]) >= 0) &&
		(after == "" || strings.IndexByte(marks, after[0]) >= 0)
}

// alone reports whether a word has a line of its own: a command's output of one
// word, behind what a runtime puts before it.
func alone(text string, start, end int) bool {
	return (start == 0 || text[start-1] == '\n') && (end == len(text) || text[end] == '\n')
}

// scenarioWords are the texts that the scenario's author wrote.
func scenarioWords(s *fixtures.Scenario) []string {
	if s == nil {
		return nil
	}
	out := []string{s.Intent}
	for _, a := range s.Client {
		out = append(out, a.Text, a.What)
	}
	value := func(j []byte) {
		if len(j) == 0 {
			return
		}
		out = append(out, string(j))
		if toks, err := tokens(j); err == nil {
			for _, t := range toks {
				out = append(out, t.text)
			}
		}
	}
	for _, agent := range slices.Sorted(maps.Keys(s.Model)) {
		for _, reply := range s.Model[agent] {
			for _, p := range reply.Parts {
				out = append(out, strings.Join(p.Text, ""), strings.Join(p.Think, ""))
				if p.Tool != nil {
					value(p.Tool.Input)
				}
				if p.Fail != nil {
					value(p.Fail.Body)
				}
			}
		}
	}
	for _, v := range []any{s.Servers, s.Tools, s.Hooks} {
		if b, err := json.Marshal(v); err == nil {
			value(b)
		}
	}
	value(s.Schema)
	for _, path := range slices.Sorted(maps.Keys(s.Workspace)) {
		out = append(out, path, string(s.Workspace[path]))
	}
	return out
}
