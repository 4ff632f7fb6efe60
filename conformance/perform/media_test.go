package perform_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/reference"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/backend"
	"github.com/turnspec/turnspec/conformance/perform"
	"github.com/turnspec/turnspec/fakes/fault"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/racesample"
)

// mediaAdapter receives the media of its sessions.
type mediaAdapter struct {
	adapters.Adapter
	mu       sync.Mutex
	received []event.Media
	wrong    []event.Media // not of the bytes
}

func (a *mediaAdapter) Open(ctx context.Context, o adapters.Options) (adapters.Session, error) {
	o.Media = func(m event.Media, data []byte) {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.received = append(a.received, m)
		if m != event.MediaOf(m.Kind, m.MIME, data) {
			a.wrong = append(a.wrong, m)
		}
	}
	return a.Adapter.Open(ctx, o)
}

// TestEachMediumIsHandedOver checks that each reference adapter hands over the bytes of each
// medium that its events refer to, and of no other.
func TestEachMediumIsHandedOver(t *testing.T) {
	g := gomega.NewWithT(t)
	ids, err := fixtures.Embedded().CaseIDs()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	ids = slices.DeleteFunc(ids, func(id string) bool { return !strings.Contains(id, "image") })
	found := map[string]int{}
	for _, id := range racesample.Sample(ids, 8) {
		runtime, _, _ := fixtures.SplitCaseID(id)
		a := &mediaAdapter{Adapter: reference.Of(runtime)}
		r := performed(t, id, func(_ conformance.Subject, rec perform.Recording, f *fault.Fault) *conformance.Run {
			return perform.Virtual(backend.Adapter(runtime, a), rec, f)
		})
		g.Expect(r.Hang).To(gomega.BeEmpty(), id)
		var referred []event.Media
		for _, e := range r.Events {
			if d, is := e.Data.(event.ToolResult); is {
				referred = append(referred, d.Media...)
			}
		}
		g.Expect(a.received).To(gomega.Equal(referred), id)
		g.Expect(a.wrong).To(gomega.BeEmpty(), id)
		found[runtime] += len(referred)
	}
	if racesample.Enabled {
		return
	}
	for _, runtime := range []string{"claude", "codex", "codexexec", "pi"} { // the others refer to no media
		g.Expect(found).To(gomega.HaveKeyWithValue(runtime, gomega.BeNumerically(">", 0)))
	}
}
