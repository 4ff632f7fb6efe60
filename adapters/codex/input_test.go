package codex

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
)

// An attachment reaches the runtime or is an error: a mention without a path would be dropped.
func TestInputOf(t *testing.T) {
	g := NewWithT(t)
	for want, a := range map[string]event.Attachment{
		"image":      {MIME: "image/png", URL: "data:image/png;base64,AA=="},
		"localImage": {Kind: "image", Path: "/a.png"},
		"mention":    {Kind: "file", Name: "a.txt", Path: "/a.txt"},
	} {
		in, err := inputOf(adapters.Message{Text: "hi", Attachments: []event.Attachment{a}})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(in).To(HaveLen(2))
		g.Expect(in[1].Type).To(Equal(want))
	}
	_, err := inputOf(adapters.Message{Attachments: []event.Attachment{{Kind: "file", Name: "a.txt", URL: "data:text/plain;base64,YQ=="}}})
	g.Expect(err).To(MatchError(adapters.ErrUnsupported))
}
