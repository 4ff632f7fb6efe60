package redact

import (
	"hash/maphash"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/turnspec/turnspec/fixtures"
)

// gram is the number of adjacent words that are known wherever they occur. Fewer
// occur in any prose by chance.
const gram = 4

// corpus holds the known texts: those of the scenario and of the client, and the
// output of commands.
type corpus struct {
	seed  maphash.Seed
	grams map[uint64]bool
	short map[uint64]bool // whole texts of fewer words
	have  map[string]bool
}

func newCorpus() *corpus {
	c := &corpus{}
	c.seed = maphash.MakeSeed()
	c.grams, c.short, c.have = map[uint64]bool{}, map[uint64]bool{}, map[string]bool{}
	return c
}

// addText adds a text, and its form as JSON inside a string.
func (c *corpus) addText(text string) {
	if len(text) < 3 || c.have[text] {
		return
	}
	c.have[text] = true
	c.addWords(text)
	if strings.ContainsAny(text, "\n\t\"\\") {
		if j, err := json.Marshal(text); err == nil {
			c.addWords(string(j))
		}
	}
	if strings.Contains(text, "\n") {
		for line := range strings.Lines(text) {
			c.addWords(line)
		}
	}
}

func (c *corpus) addWords(text string) {
	toks := splitWords(text)
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

// covered reports for each word whether it is known.
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
			separate := delimited
			if n == 1 {
				separate = ownLine
			}
			if !out[i] && separate(text, toks[i].start, toks[i+n-1].end) && c.short[c.hash(text, toks[i:i+n])] {
				mark(i, n)
			}
		}
	}
	return out
}

// delimited reports whether a few words are in quotes or on a line of their own,
// and not part of a sentence.
func delimited(text string, start, end int) bool {
	const marks = "\"'`\n<>()[]{}"
	before := strings.TrimRight(text[:start], " .,:;-")
	after := strings.TrimLeft(text[end:], " .,:;!?-")
	return (before == "" || strings.IndexByte(marks, before[len(before)-1]) >= 0) &&
		(after == "" || strings.IndexByte(marks, after[0]) >= 0)
}

// ownLine reports whether a word is a whole line: a command may print one word.
func ownLine(text string, start, end int) bool {
	return (start == 0 || text[start-1] == '\n') && (end == len(text) || text[end] == '\n')
}

// scenarioTexts returns the texts of a scenario.
func scenarioTexts(s *fixtures.Scenario) []string {
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
