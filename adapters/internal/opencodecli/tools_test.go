package opencodecli

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/ledger"
)

// TestMediaOfAResult checks the files that come with the result of a tool.
func TestMediaOfAResult(t *testing.T) {
	g := NewWithT(t)
	mediaOf := func(attached string) []event.Media {
		l := ledger.New(event.SessionReady{}, event.Position{}, nil)
		return MediaOf(l, Part{State: State{Attached: jsontext.Value(attached)}})
	}
	g.Expect(mediaOf(`[{"type":"file","mime":"image/png","url":"data:image/png;base64,YWI="},{"mime":"application/pdf","url":"data:application/pdf;base64,YQ=="},{"mime":"image/png","url":"https://x.example/a.png"},7]`)).
		To(Equal([]event.Media{event.MediaOf(event.MediaImage, "image/png", []byte("ab")), event.MediaOf(event.MediaDocument, "application/pdf", []byte("a"))}))
	g.Expect(mediaOf("")).To(BeEmpty())
	g.Expect(mediaOf(`{}`)).To(BeEmpty())
}
