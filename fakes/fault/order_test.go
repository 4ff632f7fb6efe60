package fault_test

import (
	"bytes"
	"context"
	"slices"
	"testing"

	"github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/fakes/fault"
	"github.com/turnspec/turnspec/fakes/standin"
	"github.com/turnspec/turnspec/fixtures"
)

// Two tools at once: their lines change places, and no others.
func TestOnlyIndependentLinesAreExchanged(t *testing.T) {
	for _, id := range []string{"codex/newest/tool/parallel", "claude/newest/tool/parallel"} {
		g := gomega.NewWithT(t)
		c := load(t, id)
		o := named(t, "reorder-independent")
		places := placesOf(t, o, c)
		g.Expect(places).NotTo(gomega.BeEmpty(), id)
		for _, place := range places {
			h := o.Apply(c, place)
			lines := h.Wire(1, c.Wire)
			g.Expect(lines).To(gomega.HaveLen(len(c.Wire)))
			g.Expect(lines[place].Bytes).To(gomega.Equal(c.Wire[place+1].Bytes))
			g.Expect(lines[place+1].Bytes).To(gomega.Equal(c.Wire[place].Bytes))
			for _, l := range [][]byte{lines[place].Bytes, lines[place+1].Bytes} {
				g.Expect(bytes.Contains(l, []byte("call_t")) || bytes.Contains(l, []byte("toolu_t"))).To(gomega.BeTrue(), "%s: %s", h, l)
			}
		}
		plain := load(t, id[:len(id)-len("tool/parallel")]+"text/plain")
		g.Expect(placesOf(t, o, plain)).To(gomega.BeEmpty(), "nothing runs at once there")
	}
}

func TestEchoRepeatsTheClientsMessage(t *testing.T) {
	g := gomega.NewWithT(t)
	for id, words := range map[string]string{"codex/newest/text/plain": `"userMessage"`, "claude/newest/text/plain": `"isReplay":true`} {
		c := load(t, id)
		o := named(t, "echo-input")
		g.Expect(placesOf(t, o, c)).To(gomega.HaveLen(1), id)
		place := placesOf(t, o, c)[0]
		h := o.Apply(c, place)
		lines := h.Wire(1, c.Wire)
		g.Expect(lines[place+1].Bytes).To(gomega.Equal(lines[place].Bytes))
		g.Expect(string(lines[place].Bytes)).To(gomega.ContainSubstring(words))
	}
}

func TestMissingEndIsTheEndOfATurn(t *testing.T) {
	g := gomega.NewWithT(t)
	for id, end := range map[string]string{"codex/newest/text/plain": `"turn/completed"`, "claude/newest/text/plain": `"type":"result"`} {
		c := load(t, id)
		o := named(t, "missing-end")
		g.Expect(placesOf(t, o, c)).To(gomega.HaveLen(1), id)
		place := placesOf(t, o, c)[0]
		h := o.Apply(c, place)
		for _, w := range h.Wire(1, c.Wire) {
			g.Expect(string(w.Bytes)).NotTo(gomega.ContainSubstring(end))
		}
		next := place + 1
		for c.Wire[next].Dir != fixtures.Out {
			next++
		}
		g.Expect(string(c.Wire[next].Bytes)).To(gomega.ContainSubstring(end))
	}
}

// A late line comes behind the end of its turn, and when the next one has begun.
func TestLateLineComesIntoTheNextTurn(t *testing.T) {
	g := gomega.NewWithT(t)
	for id, begin := range map[string]string{"claude/newest/turn/two-turns-one-process": `"subtype":"init"`} {
		c := load(t, id)
		for _, name := range []string{"late-delta", "late-item"} {
			o := named(t, name)
			into := 0
			for _, place := range placesOf(t, o, c) {
				if !bytes.Contains(c.Wire[place].Bytes, []byte(begin)) {
					continue
				}
				into++
				h := o.Apply(c, place)
				late := h.Wire(1, c.Wire)[place+1].Bytes
				g.Expect(slices.ContainsFunc(c.Wire[:place], func(w fixtures.WireLine) bool { return bytes.Equal(w.Bytes, late) })).To(gomega.BeTrue(), "%s: %s", id, late)
				g.Expect(slices.ContainsFunc(c.Wire[place:], func(w fixtures.WireLine) bool { return bytes.Equal(w.Bytes, late) })).To(gomega.BeFalse(), id)
			}
			g.Expect(into).To(gomega.Equal(1), "%s: %s", id, name)
		}
	}
}

// If the end is lost, all other lines are written.
func TestOnlyTheEndIsLost(t *testing.T) {
	g := gomega.NewWithT(t)
	for id, end := range map[string]string{"codex/newest/turn/two-turns-one-process": `"turn/completed"`, "claude/newest/turn/two-turns-one-process": `"type":"result"`, "claude/newest/text/plain": `"type":"result"`} {
		c := load(t, id)
		o := named(t, "lost-end")
		g.Expect(placesOf(t, o, c)).To(gomega.HaveLen(1), id)
		h := o.Apply(c, placesOf(t, o, c)[0])
		lines := h.Wire(1, c.Wire)
		g.Expect(lines).To(gomega.HaveLen(len(c.Wire)-1), id)
		count := func(lines []fixtures.WireLine) (n int) {
			for _, w := range lines {
				if bytes.Contains(w.Bytes, []byte(end)) {
					n++
				}
			}
			return n
		}
		g.Expect(count(lines)).To(gomega.Equal(count(c.Wire)-1), id)
	}
	g.Expect(placesOf(t, named(t, "lost-end"), load(t, "claude/2.1.197/text/plain"))).To(gomega.BeEmpty(), "nothing says that the turn is over")
}

func TestClosedStdinRejectsWrites(t *testing.T) {
	g := gomega.NewWithT(t)
	c := load(t, "codex/newest/text/plain")
	o := named(t, "close-stdin")
	h := o.Apply(c, placesOf(t, o, c)[0])
	options := standin.Options{Manual: true, KeepIDs: true}
	h.ApplyTo(&options)
	p, err := standin.New(c, options)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	defer p.Close()
	pr, err := p.Launcher().Launch(context.Background(), proc.Command{Argv: c.Wire[0].Argv, Dir: "<work>", Env: []string{"HOME=<home>"}})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	for _, w := range c.Wire {
		if w.Dir == fixtures.In {
			_, err = pr.Stdin().Write(append(bytes.Clone(w.Bytes), '\n'))
			g.Expect(err).NotTo(gomega.HaveOccurred())
			break
		}
	}
	steps(p)
	_, err = pr.Stdin().Write([]byte("{}\n"))
	g.Expect(err).To(gomega.HaveOccurred())
	g.Expect(p.Running()).To(gomega.Equal(1), "it lives on")
	g.Expect(pr.Signal(proc.SIGTERM)).To(gomega.Succeed())
	g.Expect(p.Running()).To(gomega.BeZero())
}

func TestLongLinesHaveTheStatedLengths(t *testing.T) {
	g := gomega.NewWithT(t)
	c := load(t, "codex/newest/text/plain")
	for name, want := range map[string][]int{"long-line": {64 << 10}, "huge-line": {1 << 20, 8 << 20}, "endless-line": {65 << 20}, "endless-end": {65 << 20}} {
		o := named(t, name)
		places := placesOf(t, o, c)
		for i, n := range want {
			h := o.Apply(c, places[i])
			longest := 0
			for _, w := range h.Wire(1, c.Wire) {
				longest = max(longest, len(w.Bytes))
			}
			g.Expect(longest).To(gomega.BeNumerically("~", n, 8<<10), name)
		}
	}
	for _, name := range []string{"huge-line", "endless-line", "endless-end"} {
		g.Expect(placesOf(t, named(t, name), load(t, someCases[1]))).To(gomega.BeEmpty(), "few places: %s", name)
	}
}

// A long pause delays the lines that follow it, and changes nothing else.
func TestLongPauseIsWithinText(t *testing.T) {
	g := gomega.NewWithT(t)
	for _, id := range []string{"codex/newest/text/plain", "claude/newest/text/plain"} {
		c := load(t, id)
		o := named(t, "long-pause")
		g.Expect(placesOf(t, o, c)).NotTo(gomega.BeEmpty(), id)
		for _, place := range placesOf(t, o, c) {
			h := o.Apply(c, place)
			for i, w := range h.Wire(1, c.Wire) {
				want := c.Wire[i]
				if i > place {
					want.T += fault.PauseLength
				}
				g.Expect(w).To(gomega.Equal(want), "%s: line %d", id, w.Line)
			}
		}
	}
}
