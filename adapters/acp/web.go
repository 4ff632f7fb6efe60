package acp

import (
	"cmp"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/lenient"
)

// webAction is the input of a search that the model's API makes itself, as codex-acp shows
// it. What it does is known at its end.
type webAction struct {
	Type   lenient.Str `json:"type"`
	Query  lenient.Str `json:"query"`
	Action struct {
		Type    lenient.Str `json:"type"`
		URL     lenient.Str `json:"url"`
		Pattern lenient.Str `json:"pattern"`
	} `json:"action"`
}

// webAction returns what the call does on the web, or nil if it is another call.
func (c *toolCall) webAction() *webAction {
	w := lenient.Decode[webAction](c.input)
	if w.Type != "webSearch" {
		return nil
	}
	return &w
}

func (w *webAction) isEmpty() bool { return w.Query == "" && w.Action.URL == "" }

// fetches reports whether the action is about one page.
func (w *webAction) fetches() bool {
	return w.Action.Type == "openPage" || w.Action.Type == "findInPage"
}

func (w *webAction) toolName() string {
	if w.fetches() {
		return "WebFetch"
	}
	return "WebSearch"
}

// input returns the input of the call in events.
func (w *webAction) input() event.Raw {
	if !w.fetches() {
		return lenient.Encode(struct {
			Query string `json:"query"`
		}{string(w.Query)})
	}
	return lenient.Encode(struct {
		URL     string `json:"url"`
		Pattern string `json:"pattern,omitempty"`
	}{cmp.Or(string(w.Action.URL), string(w.Query)), string(w.Action.Pattern)})
}
