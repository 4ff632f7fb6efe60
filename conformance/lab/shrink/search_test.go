package shrink_test

import (
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/conformance/lab/shrink"
)

// TestSmallest checks that the search keeps what try keeps, tries the forms of that, and ends
// when more returns false.
func TestSmallest(t *testing.T) {
	g := NewWithT(t)
	withoutOne := func(s string) (out []string) {
		for i := range s {
			out = append(out, s[:i]+s[i+1:])
		}
		return out
	}
	tries := 0
	try := func(s string) bool {
		tries++
		return strings.Contains(s, "x") && strings.Contains(s, "y")
	}
	always := func() bool { return true }
	g.Expect(shrink.Smallest("axbbyc", withoutOne, always, try)).To(Equal("xy"))
	g.Expect(shrink.Smallest("ab", withoutOne, always, try)).To(Equal("ab"))
	tries = 0
	g.Expect(shrink.Smallest("axbbyc", withoutOne, func() bool { return tries < 2 }, try)).To(Equal("xbbyc"))
	g.Expect(tries).To(Equal(2))
}

// TestScenarioForms checks what the forms of a scenario lack: the details of prose, a part of a
// reply but not when it is given, a step, a whole reply.
func TestScenarioForms(t *testing.T) {
	g := NewWithT(t)
	const file = "Why.\n-- scenario --\ntopic: text\nhidden: claude: why\n-- client --\nsend m1: One.\nwait end m1\n-- model --\n[{\"on\":\"m1\"},{\"think\":[\"a \",\"b\"]},{\"text\":[\"long\",\" words\"]}]\n"
	var got []string
	for _, form := range shrink.ScenarioForms([]byte(file)) {
		got = append(got, string(form))
	}
	g.Expect(got).To(HaveLen(7))
	g.Expect(got[0]).To(ContainSubstring(`[{"on":"m1"},{"think":["so b."]},{"text":["so c."]}]`))
	for _, want := range []string{`[{"on":"m1"},{"text":["long"," words"]}]`, `[{"on":"m1"},{"think":["a ","b"]}]`, "-- client --\nwait end m1\n", "-- client --\nsend m1: One.\n-- model", "-- model --\n", "topic: text\n-- client"} {
		g.Expect(slices.ContainsFunc(got[1:], func(form string) bool { return strings.Contains(form, want) })).To(BeTrue(), want)
	}
	for _, form := range got {
		g.Expect(form).NotTo(Equal(file))
	}
}

// TestWords checks that what comes from a case is no part of the words of a problem.
func TestWords(t *testing.T) {
	g := NewWithT(t)
	g.Expect(shrink.Words(`turn 3 has "x" twice: y`)).To(Equal("turn N has "))
	g.Expect(shrink.Words("the event 019a-ff7 came late")).To(Equal("the event N came late"))
}
