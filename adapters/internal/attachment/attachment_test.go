package attachment_test

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/attachment"
)

func TestMediaType(t *testing.T) {
	g := NewWithT(t)
	for want, list := range map[string][]event.Attachment{
		"image/x":         {{MIME: "image/x", Path: "a.png"}},
		"image/png":       {{Kind: "image"}, {Kind: "image", Path: "/a.b/c"}, {Kind: "image", Path: "a.unknown"}, {Path: "a.PNG"}},
		"image/jpeg":      {{Kind: "image", Path: "a.jpg"}, {Kind: "image", Path: "a.JPEG"}, {Path: "a.jpg", Name: "a picture"}, {Name: "b.jpeg", URL: "https://x.example/b"}},
		"image/bmp":       {{Kind: "image", Path: "a.bmp"}},
		"image/webp":      {{Kind: "image", Path: "a.webp", Name: "b.gif"}},
		"application/pdf": {{Kind: "file", Path: "a.pdf"}},
		"text/plain":      {{Kind: "file", Path: "a.go"}, {Kind: "file", Path: "page.html"}, {Kind: "file", Path: "Makefile"}, {}},
	} {
		for _, a := range list {
			g.Expect(attachment.MediaType(a)).To(Equal(want), "%+v", a)
		}
	}
}

func TestData(t *testing.T) {
	g := NewWithT(t)
	file := filepath.Join(t.TempDir(), "a.gif")
	g.Expect(os.WriteFile(file, []byte("ab"), 0o600)).To(Succeed())
	for _, c := range []struct {
		a               event.Attachment
		mediaType, data string
		fails           any
	}{
		{event.Attachment{Path: file}, "image/gif", "YWI=", nil},
		{event.Attachment{URL: "data:image/png;base64,YWI=", MIME: "image/x"}, "image/png", "YWI=", nil},
		{event.Attachment{URL: "data:image/png,ab"}, "", "", ContainSubstring("want data:<type>;base64,<data>")},
		{event.Attachment{URL: "data:image/png;base64"}, "", "", ContainSubstring("want data:<type>;base64,<data>")},
		{event.Attachment{URL: "https://x.example/a.png"}, "", "", adapters.ErrUnsupported},
		{event.Attachment{Path: file + "none"}, "image/png", "", os.ErrNotExist},
	} {
		mediaType, data, err := attachment.Data(c.a)
		if c.fails != nil {
			g.Expect(err).To(MatchError(c.fails), "%+v", c.a)
			continue
		}
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect([]string{mediaType, data}).To(Equal([]string{c.mediaType, c.data}), "%+v", c.a)
	}
}
