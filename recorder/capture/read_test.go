package capture_test

import (
	"bytes"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/recorder/capture"
)

func TestLinesAreNotReencoded(t *testing.T) {
	g := NewWithT(t)
	rec, err := capture.Read(strings.NewReader(`{ "type" : "system", "n":1.50 }` + "\r\n\n" + `not JSON`))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(rec.Format).To(Equal(capture.Plain))
	g.Expect(rec.Wire).To(HaveLen(2))
	g.Expect(string(rec.Wire[0].Bytes)).To(Equal(`{ "type" : "system", "n":1.50 }`))
	g.Expect(string(rec.Wire[1].Bytes)).To(Equal("not JSON"))
}

// The redactor cannot know everything about another machine. If the lint finds
// something, no case is made.
func TestPrivateLinesAreRejected(t *testing.T) {
	g := NewWithT(t)
	line := func(s string) []fixtures.WireLine {
		return []fixtures.WireLine{{Process: 1, Dir: fixtures.Out, Bytes: []byte(s)}}
	}
	h := capture.Head{Name: "imported/x", Runtime: "codex", Version: "1.0.0", Recorded: "today"}
	wire := line(`{"a":"/home/ann/x and /Users/bob/y and /tmp/z","k":"gh` + `p_x7Kq2mZ9vB4nR8tY1wE6uI3oP5aS0dFgH2jK"}`)
	b, err := capture.Make(h, capture.Elsewhere(wire), wire)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(b)).To(ContainSubstring(`{"a":"<home>/x and <home-of-another>/y and <tmp>/z","k":"<secret:1>"}`))

	wire = line(`{"a":"/run/user/1000/x"}`)
	_, err = capture.Make(h, capture.Elsewhere(wire), wire)
	g.Expect(err).To(MatchError(ContainSubstring("must not be published")))
	g.Expect(err).To(MatchError(ContainSubstring("path: /run/user/1000")))
	_, err = capture.Make(h, capture.Elsewhere(nil), nil)
	g.Expect(err).To(HaveOccurred())
}

func TestLiveKeepsLinesInOrder(t *testing.T) {
	g := NewWithT(t)
	var out, errs bytes.Buffer
	wire, exit, err := capture.Live(t.Context(), []string{"/bin/sh", "-c", `read l; echo "got $l"; echo no >&2; printf end; exit 3`},
		capture.Stdio{In: strings.NewReader("one\n"), Out: &out, Err: &errs})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(exit.Code).To(Equal(3))
	g.Expect(out.String()).To(Equal("got one\nend"))
	g.Expect(errs.String()).To(Equal("no\n"))
	g.Expect(wire[0].Argv[0]).To(Equal("sh"))
	lines := map[fixtures.Dir][]string{}
	for _, l := range wire {
		lines[l.Dir] = append(lines[l.Dir], string(l.Bytes))
	}
	g.Expect(lines[fixtures.In]).To(Equal([]string{"one"}))
	g.Expect(lines[fixtures.Out]).To(Equal([]string{"got one", "end"}))
	g.Expect(lines[fixtures.Err]).To(Equal([]string{"no"}))
	g.Expect(wire[len(wire)-1].Code).To(Equal(3))
}
