package turnproc

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
)

// TestAttachments checks that attachments without a path become files, which are removed with the
// message, and that those with a path stay where they are.
func TestAttachments(t *testing.T) {
	g := NewWithT(t)
	tmp := t.TempDir()
	own := filepath.Join(tmp, "own.png")
	g.Expect(os.WriteFile(own, []byte("own"), 0o600)).To(Succeed())
	f := NewFiles([]string{"TMPDIR=" + tmp})
	m := adapters.Message{ID: "m1", Attachments: []event.Attachment{
		{Kind: "image", Path: own}, {Kind: "image", Name: "../a b.png", URL: "data:image/png;base64,YWI="}, {Kind: "file", MIME: "application/pdf", URL: "data:application/pdf;base64,Yw=="},
	}}
	g.Expect(f.Attach(&m)).To(Succeed())
	paths := f.Paths("m1")
	g.Expect(paths).To(HaveLen(3))
	g.Expect(paths[0]).To(Equal(own))
	g.Expect(filepath.Base(paths[1])).To(Equal("attachment-1.png"))
	g.Expect(os.ReadFile(paths[1])).To(Equal([]byte("ab")))
	g.Expect(filepath.Ext(paths[2])).To(Equal(".pdf"))
	f.Release("m1")
	g.Expect(f.Paths("m1")).To(BeEmpty())
	g.Expect(paths[1]).NotTo(BeAnExistingFile())
	f.Remove()
	g.Expect(filepath.Dir(paths[1])).NotTo(BeADirectory())
	g.Expect(own).To(BeAnExistingFile())
}

// TestAttachmentsThatCannotBeSent checks the errors.
func TestAttachmentsThatCannotBeSent(t *testing.T) {
	f := NewFiles([]string{"TMPDIR=" + t.TempDir()})
	for url, want := range map[string]string{
		"": "a path or a data URL", "https://x.example/a.png": "a path or a data URL", "data:image/png,ab": "want data:", "data:image/png;base64,%": "illegal base64",
	} {
		g := NewWithT(t)
		g.Expect(f.Attach(&adapters.Message{ID: "m1", Attachments: []event.Attachment{{Kind: "image", URL: url}}})).To(MatchError(ContainSubstring(want)), url)
	}
	f.Remove()
}
