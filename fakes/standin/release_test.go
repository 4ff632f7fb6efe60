package standin_test

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/turnspec/turnspec/fakes/standin"
)

// A recorded release is a barrier for a client that names the holds that it releases, and
// nothing for any other client.
func TestReleaseIsABarrierOfItsClient(t *testing.T) {
	for _, holds := range []bool{true, false} {
		g := gomega.NewWithT(t)
		c := load(t, "chat/1-plain/queue/withdrawn")
		p, err := standin.New(c, standin.Options{Manual: true, KeepIDs: true, Holds: holds})
		g.Expect(err).NotTo(gomega.HaveOccurred())
		e := newEchoClient(p)
		g.Expect(e.spawn(c.Wire[0].Argv)).To(gomega.Succeed())
		e.write(t, string(acts(c)[0].Bytes))
		e.steps()
		b := p.State().Barrier
		g.Expect(b).NotTo(gomega.BeNil())
		if holds {
			g.Expect(b.Kind).To(gomega.Equal(standin.KindRelease))
			p.Release("other")
			g.Expect(p.State().Barrier.Kind).To(gomega.Equal(standin.KindRelease))
			p.Release("h1")
			e.steps()
		}
		g.Expect(p.State().Barrier.Kind).To(gomega.Equal(standin.KindClose))
		p.Close()
	}
}
