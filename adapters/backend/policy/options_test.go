package policy

import (
	"maps"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/fixtures/racesample"
)

// TestProgramTable: each line of programs.txt can be read.
func TestProgramTable(t *testing.T) {
	g := NewWithT(t)
	g.Expect(loadPrograms(programTable)).To(BeEmpty())
	g.Expect(loadPrograms("x | frob | a\n")).NotTo(BeEmpty(), "a word that is no use")
	g.Expect(loadPrograms("x | reads\n")).NotTo(BeEmpty(), "no options")
	delete(programs, "x")
	for name := range judges {
		g.Expect(programs).To(HaveKey(name), "it has a judge, but no line")
	}
}

// TestListedOptionsDoNoHarm runs the programs of the cell with each option that programs.txt
// has for them, and those that accept unknown words with each letter: none may change
// anything that the policy does not see.
func TestListedOptionsDoNoHarm(t *testing.T) {
	var all []string
	for _, name := range honest {
		p := programs[name]
		if p == nil || p.class != harmless || p.sub || p.args == textOnly {
			continue
		}
		for _, o := range slices.Sorted(maps.Keys(p.options.long)) {
			all = append(all, name+" --"+o+" a.txt b.txt", name+" --"+o+"=a.txt b.txt", name+" --"+o+"=new a.txt b.txt")
		}
		letters := slices.Sorted(maps.Keys(p.options.short))
		if p.any {
			letters = []byte("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
		}
		for _, o := range letters {
			all = append(all, name+" -"+string(rune(o))+" a.txt b.txt", name+" -"+string(rune(o))+"a.txt b.txt", name+" -"+string(rune(o))+" new a.txt b.txt", "x=-"+string(rune(o))+"; "+name+" $x new a.txt b.txt")
		}
	}
	c := newCell(t)
	allowed := 0
	for i, command := range all {
		if !racesample.Whole() && i%61 != 0 {
			continue
		}
		for _, mode := range Modes() {
			ok, harm := c.tryCommand(t, sound, mode, command+" < sub/c.txt")
			if ok {
				allowed++
			}
			if len(harm) > 0 {
				t.Errorf("%s allowed %q: %v", mode, command, harm)
			}
			if ok && strings.HasPrefix(string(mode), "plan") {
				break // the other mode allows it too
			}
		}
	}
	t.Logf("%d commands, %d allowed", len(all), allowed)
	NewWithT(t).Expect(allowed).To(BeNumerically(">=", 15), "the test proves nothing if no command runs")
}
