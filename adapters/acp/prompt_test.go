package acp

import (
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/turnspec/turnspec/adapters/event"
)

// A file without a path is a resource with its contents: an agent would read the data URL of a
// link as words.
func TestDataURLs(t *testing.T) {
	for url, want := range map[string]string{
		"data:text/plain;base64,w7xi":       `{"type":"resource","resource":{"uri":"file:///a","mimeType":"text/plain","text":"üb"}}`,
		"data:application/pdf;base64,/w==":  `{"type":"resource","resource":{"uri":"file:///a","mimeType":"application/pdf","blob":"/w=="}}`,
		"data:text/plain;base64,":           `{"type":"resource","resource":{"uri":"file:///a","mimeType":"text/plain","text":""}}`,
		"https://files.example/a":           `{"type":"resource_link","uri":"https://files.example/a","name":"a"}`,
		"data:text/plain;base64,not base64": "",
	} {
		block, err := blockOf(event.Attachment{Kind: "file", Name: "a", URL: url})
		if err != nil {
			if want != "" {
				t.Errorf("%s: %v", url, err)
			}
			continue
		}
		if b, err := json.Marshal(block); err != nil || string(b) != want {
			t.Errorf("%s: %s %v, want %q", url, b, err, want)
		}
	}
}
