package standin_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/onsi/gomega"

	"github.com/turnspec/turnspec/fakes/standin"
	"github.com/turnspec/turnspec/fixtures"
)

// A recording's client may have sent turn/start before it read thread/started.
// Another client waits for that line first: the play must not wait for the turn.
func TestSendMovesBehindLinesItDidNotCause(t *testing.T) {
	g := gomega.NewWithT(t)
	c := *load(t, codexPlain)
	find := func(text string) int {
		return slices.IndexFunc(c.Wire, func(w fixtures.WireLine) bool { return bytes.Contains(w.Bytes, []byte(text)) })
	}
	started, send := find(`"method":"thread/started"`), find(`"method":"turn/start"`)
	g.Expect(started).To(gomega.BeNumerically("<", send))
	g.Expect(started).To(gomega.BeNumerically(">", 0))
	order := slices.Clone(c.Wire)
	act := order[send]
	order = slices.Insert(slices.Delete(order, send, send+1), started, act)
	c.Wire = order

	p, err := standin.New(&c, standin.Options{Manual: true, KeepIDs: true})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	defer p.Close()
	var halted *standin.Barrier
	e := newEchoClient(p)
	e.instead = func(w *fixtures.WireLine) []string {
		if bytes.Equal(w.Bytes, act.Bytes) {
			halted = p.State().Barrier
			e.steps()
		}
		return []string{string(w.Bytes)}
	}
	before := recorded(&c, fixtures.Out, 1)
	g.Expect(e.perform(&c)).To(gomega.Succeed())
	same(t, e.out[1].String(), before)
	g.Expect(halted).NotTo(gomega.BeNil())
	g.Expect(halted.Kind).To(gomega.Equal(standin.KindSend))
	for _, w := range p.ClientActions() {
		if w.Kind == standin.KindSend {
			g.Expect(w.Matched.Bytes).To(gomega.Equal(act.Bytes))
		}
	}

	// The line was out before the turn was asked for.
	q, err := standin.New(&c, standin.Options{Manual: true, KeepIDs: true})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	defer q.Close()
	f := newEchoClient(q)
	g.Expect(f.spawn(c.Wire[0].Argv)).To(gomega.Succeed())
	for _, w := range acts(&c) {
		if bytes.Equal(w.Bytes, act.Bytes) {
			break
		}
		f.write(t, string(w.Bytes))
	}
	var saw bool
	for st, ok := q.Step(); ok; st, ok = q.Step() {
		saw = saw || bytes.Contains(st.Line.Bytes, []byte(`"method":"thread/started"`))
	}
	g.Expect(saw).To(gomega.BeTrue())
}

func BenchmarkNew(b *testing.B) {
	c, err := fixtures.LoadCase(claudePlain)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := standin.New(c, standin.Options{Manual: true}); err != nil {
			b.Fatal(err)
		}
	}
}
