package ledger

import (
	"slices"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/event"
)

func TestMediaIn(t *testing.T) {
	hello := func(kind event.MediaKind, mime string) []event.Media { // aGVsbG8= is hello
		return []event.Media{{Kind: kind, MIME: mime, Size: 5, SHA256: "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"}}
	}
	for content, want := range map[string][]event.Media{
		`[{"type":"text","text":"a"},{"type":"image","data":"aGVsbG8=","mimeType":"image/png"}]`:              hello(event.MediaImage, "image/png"),
		`[{"type":"audio","data":"aGVsbG8=","mimeType":"audio/wav"}]`:                                         hello(event.MediaAudio, "audio/wav"),
		`[{"type":"resource","resource":{"uri":"f:a","blob":"aGVsbG8=","mimeType":"application/pdf"}}]`:       hello(event.MediaDocument, "application/pdf"),
		`[{"type":"resource","resource":{"uri":"f:a","blob":"aGVsbG8=","mimeType":"image/gif"}}]`:             hello(event.MediaImage, "image/gif"),
		`[{"type":"content","content":{"type":"image","data":"aGVsbG8=","mimeType":"image/png"}}]`:            hello(event.MediaImage, "image/png"),
		`[{"type":"image","data":"not base64","mimeType":"image/png"},{"type":"image","url":"http://a"}, 1]`:  nil,
		`[{"type":"resource_link","uri":"f:a"},{"type":"resource","resource":{"uri":"f:a","text":"a text"}}]`: nil,
		`"text"`: nil,
		``:       nil,
	} {
		if got := New(event.SessionReady{}, event.Position{}, nil).MediaIn(jsontext.Value(content)); !slices.Equal(got, want) {
			t.Errorf("%s\n got %v\nwant %v", content, got, want)
		}
	}
}

// The bytes of a medium are handed over right before the result that refers to them, once for
// each reference, and not for a result that is not emitted.
func TestMediaBeforeResult(t *testing.T) {
	const content = `[{"type":"image","data":"aGVsbG8=","mimeType":"image/png"},{"type":"image","data":"aGVsbG8=","mimeType":"image/png"},{"type":"audio","data":"YQ==","mimeType":"audio/wav"}]`
	var log []string
	l := New(event.SessionReady{SessionID: "s"}, event.Position{}, func(e event.Event) { log = append(log, string(e.Type())) })
	l.Media = func(m event.Media, data []byte) {
		if m != event.MediaOf(m.Kind, m.MIME, data) {
			t.Errorf("%v is not of %q", m, data)
		}
		log = append(log, string(data))
	}
	l.SessionReady(event.SessionReady{})
	s := l.TurnStart(event.TurnStart{})
	for _, id := range []string{"a", "b"} {
		s.ToolStart(event.ToolStart{ToolUseID: id})
	}
	log = nil
	s.ToolResult(event.ToolResult{ToolUseID: "a", Media: l.MediaIn(jsontext.Value(content))})
	s.ToolResult(event.ToolResult{ToolUseID: "a", Media: l.MediaIn(jsontext.Value(content))}) // a second result
	s.ToolResult(event.ToolResult{ToolUseID: "b"})
	if want := []string{"hello", "hello", "a", "tool_result", "tool_result"}; !slices.Equal(log, want) {
		t.Errorf("got %v, want %v", log, want)
	}
	if len(l.media) > 0 {
		t.Errorf("%d media are kept", len(l.media))
	}
}
