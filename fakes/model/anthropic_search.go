package model

import (
	"errors"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/fixtures"
)

type (
	aSearch struct {
		Type    string `json:"type"`
		ToolUse string `json:"tool_use_id"`
		Content any    `json:"content"` // pages, or a failure
	}
	aPage struct {
		Type    string  `json:"type"`
		Title   string  `json:"title"`
		URL     string  `json:"url"`
		Content string  `json:"encrypted_content"`
		Age     *string `json:"page_age"`
	}
	aSearchFails struct {
		Type string `json:"type"`
		Code string `json:"error_code"`
	}
)

// addSearch writes a call of the API's own tool and its result, in the same message.
func (v *messagesEncoder) addSearch(s *fixtures.Search) error {
	query, err := json.Marshal(struct {
		Query string `json:"query"`
	}{s.Query})
	if err != nil {
		return err
	}
	b := aToolUse{"server_tool_use", v.o.id("srvtoolu_"), "web_search", jsontext.Value("{}")}
	in := string(query)
	if err := errors.Join(
		v.event(aEvent{Type: "content_block_start", Index: &v.index, Block: b}),
		v.event(aEvent{Type: "content_block_delta", Index: &v.index, Delta: aDelta{Type: "input_json_delta", JSON: &in}}),
	); err != nil {
		return err
	}
	b.Input = query
	if err := v.endBlock(b); err != nil {
		return err
	}
	pages := []aPage{}
	for _, p := range s.Found {
		pages = append(pages, aPage{Type: "web_search_result", Title: p.Title, URL: p.URL, Content: signature})
	}
	r := aSearch{"web_search_tool_result", b.ID, pages}
	if s.Error != "" {
		r.Content = aSearchFails{"web_search_tool_result_error", s.Error}
	}
	if err := v.event(aEvent{Type: "content_block_start", Index: &v.index, Block: r}); err != nil {
		return err
	}
	return v.endBlock(r)
}
