package opencode

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/lenient"
)

// TestPartsOfAMessage checks what a message is sent as: the runtime refuses a part for text
// that has none, and reads itself what a path names.
func TestPartsOfAMessage(t *testing.T) {
	picture := event.Attachment{Kind: "image", Name: "a.png", URL: "data:image/png;base64,YWI="}
	for name, x := range map[string]struct {
		text  string
		files []event.Attachment
		want  string
	}{
		"text":    {"hi", nil, `[{"type":"text","text":"hi"}]`},
		"nothing": {"", nil, `[{"type":"text","text":""}]`},
		"text and a picture": {"hi", []event.Attachment{picture},
			`[{"type":"text","text":"hi"},{"type":"file","mime":"image/png","filename":"a.png","url":"data:image/png;base64,YWI="}]`},
		"a picture alone": {"", []event.Attachment{picture}, `[{"type":"file","mime":"image/png","filename":"a.png","url":"data:image/png;base64,YWI="}]`},
		"a path": {"", []event.Attachment{{Kind: "image", Path: "/pictures/a b.png"}},
			`[{"type":"file","mime":"image/png","filename":"a b.png","url":"file:///pictures/a%20b.png"}]`},
		"a path in the folder": {"", []event.Attachment{{Kind: "image", Path: "a.png"}},
			`[{"type":"file","mime":"image/png","filename":"a.png","url":"file:///work/a.png"}]`},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			parts, err := partsOf(x.text, x.files, "/work")
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(lenient.Encode(parts)).To(MatchJSON(x.want))
		})
	}
}
