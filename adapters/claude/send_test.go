package claude

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
)

// The bytes of a data URL are a document or an error, and never words.
func TestDataURLs(t *testing.T) {
	g := NewWithT(t)
	b, err := attachmentBlock(event.Attachment{Kind: "file", Name: "a.txt", URL: "data:text/plain;base64,w7xi"})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(b).To(Equal(blockOut{Type: "document", Title: "a.txt", Source: &sourceOut{Type: "text", MediaType: "text/plain", Data: "üb"}}))
	for url, want := range map[string]OmegaMatcher{
		"data:application/zip;base64,/w==": MatchError(adapters.ErrUnsupported),
		"data:text/plain;base64,?":         HaveOccurred(),
		"data:text/plain,ab":               HaveOccurred(),
	} {
		_, err := attachmentBlock(event.Attachment{Kind: "file", URL: url})
		g.Expect(err).To(want, url)
	}
}
