package ledger

import (
	"encoding/base64"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/event"
)

// contentOptions accept text that runtimes really send.
var contentOptions = json.JoinOptions(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))

// medium is a medium whose reference was made and not yet emitted.
type medium struct {
	event.Media
	data []byte
}

// MediaOf returns the reference to a medium of the next tool_result.
func (l *Ledger) MediaOf(kind event.MediaKind, mime string, data []byte) event.Media {
	m := event.MediaOf(kind, mime, data)
	if l.Media != nil {
		l.media = append(l.media, medium{m, data})
	}
	return m
}

// handOver passes on the bytes of the media of a result, and drops those of others: their
// results are not emitted.
func (l *Ledger) handOver(refs []event.Media) {
	for _, ref := range refs {
		if i := slices.IndexFunc(l.media, func(m medium) bool { return m.Media == ref }); i >= 0 {
			l.Media(ref, l.media[i].data)
			l.media = slices.Delete(l.media, i, i+1)
		}
	}
	l.media = nil
}

// MediaIn returns the references to the images, sounds and documents in a list of content of
// the next tool_result. The list is in the form of the Model Context Protocol, which most
// runtimes pass on. Content that is a link has no bytes to refer to.
func (l *Ledger) MediaIn(content jsontext.Value) (out []event.Media) {
	var list []jsontext.Value
	if content.Kind() != '[' || json.Unmarshal(content, &list, contentOptions) != nil {
		return nil
	}
	for _, v := range list {
		var c struct {
			Type     string         `json:"type"`
			Data     string         `json:"data"`
			MIME     string         `json:"mimeType"`
			Content  jsontext.Value `json:"content"` // of ACP, around the content
			Resource struct {
				Blob string `json:"blob"`
				MIME string `json:"mimeType"`
			} `json:"resource"`
		}
		if json.Unmarshal(v, &c, contentOptions) != nil {
			continue
		}
		kind, mime, data := event.MediaKind(c.Type), c.MIME, c.Data
		switch {
		case c.Type == "content":
			out = append(out, l.MediaIn(jsontext.Value("["+string(c.Content)+"]"))...)
			continue
		case c.Type == "resource" && c.Resource.Blob != "":
			kind, mime, data = event.MediaKindOf(c.Resource.MIME), c.Resource.MIME, c.Resource.Blob
		case kind != event.MediaImage && kind != event.MediaAudio || data == "":
			continue
		}
		if b, err := base64.StdEncoding.DecodeString(data); err == nil {
			out = append(out, l.MediaOf(kind, mime, b))
		}
	}
	return out
}
