package codexcli

import (
	"testing"

	"github.com/turnspec/turnspec/adapters/event"
)

func TestWebStart(t *testing.T) {
	for _, c := range []struct {
		query  string
		action WebAction
		known  bool
		want   event.ToolStart
	}{
		{"", WebAction{}, false, event.ToolStart{Tool: "WebSearch", Input: event.Raw(`{"query":""}`)}},
		{"rain in Bern", WebAction{Query: "rain in Bern"}, true, event.ToolStart{Tool: "WebSearch", Query: "rain in Bern", Input: event.Raw(`{"query":"rain in Bern"}`)}},
		{"https://a.example/b", WebAction{}, true, event.ToolStart{Tool: "WebFetch", URL: "https://a.example/b", Input: event.Raw(`{"url":"https://a.example/b"}`)}},
		{"https://a.example or b", WebAction{}, true, event.ToolStart{Tool: "WebSearch", Query: "https://a.example or b", Input: event.Raw(`{"query":"https://a.example or b"}`)}},
		{"'it's' in https://a.example", WebAction{}, true, event.ToolStart{Tool: "WebFetch", URL: "https://a.example", Pattern: "it's", Input: event.Raw(`{"pattern":"it's","url":"https://a.example"}`)}},
		{"'x' in a book", WebAction{}, true, event.ToolStart{Tool: "WebSearch", Query: "'x' in a book", Input: event.Raw(`{"query":"'x' in a book"}`)}},
		{"", WebAction{URL: "https://a.example", Pattern: "x"}, true, event.ToolStart{Tool: "WebFetch", URL: "https://a.example", Pattern: "x", Input: event.Raw(`{"pattern":"x","url":"https://a.example"}`)}},
	} {
		var got event.ToolStart
		if known := WebStart(&got, c.query, c.action); known != c.known {
			t.Errorf("%q %v: known is %v, want %v", c.query, c.action, known, c.known)
		}
		if got.Tool != c.want.Tool || got.Query != c.want.Query || got.URL != c.want.URL || got.Pattern != c.want.Pattern || string(got.Input) != string(c.want.Input) {
			t.Errorf("%q %v:\n got %+v %s\nwant %+v %s", c.query, c.action, got, got.Input, c.want, c.want.Input)
		}
	}
}
