package ledger

import (
	"encoding/base64"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/event"
)

// contentOptions accept text that runtimes really send.
var contentOptions = json.JoinOptions(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))

// MediaIn returns the images, sounds and documents in a list of content, in the form of the
// Model Context Protocol, which most runtimes pass on. Content that is a link has no
// bytes to refer to.
func MediaIn(content jsontext.Value) (out []event.Media) {
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
			out = append(out, MediaIn(jsontext.Value("["+string(c.Content)+"]"))...)
			continue
		case c.Type == "resource" && c.Resource.Blob != "":
			kind, mime, data = event.MediaDocument, c.Resource.MIME, c.Resource.Blob
			if top, _, _ := strings.Cut(mime, "/"); top == string(event.MediaImage) || top == string(event.MediaAudio) {
				kind = event.MediaKind(top)
			}
		case kind != event.MediaImage && kind != event.MediaAudio || data == "":
			continue
		}
		if b, err := base64.StdEncoding.DecodeString(data); err == nil {
			out = append(out, event.MediaOf(kind, mime, b))
		}
	}
	return out
}
