package codexcli

import (
	"cmp"
	"strings"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/lenient"
)

// WebAction is what a call of the hosted web search does, as the runtime states it.
type WebAction struct{ Query, URL, Pattern string }

// WebStart completes the event that announces a call of the hosted web search: to search the
// web, to open a page, or to look for a text in a page. It returns false if the runtime
// does not state yet which of them it is. It states that when the call has ended.
func WebStart(d *event.ToolStart, query string, a WebAction) bool {
	if a.URL == "" { // 0.120 of exec states no action, only the text that it shows
		a.URL, a.Pattern = pageOf(query)
	}
	if a.URL != "" {
		d.Tool, d.URL, d.Pattern = "WebFetch", a.URL, a.Pattern
		in := map[string]string{"url": a.URL}
		if a.Pattern != "" {
			in["pattern"] = a.Pattern
		}
		d.Input = lenient.Encode(in)
		return true
	}
	d.Tool, d.Query = "WebSearch", cmp.Or(query, a.Query, a.Pattern)
	d.Input = lenient.Encode(map[string]string{"query": d.Query})
	return d.Query != ""
}

// pageOf reads the text that the runtime shows for a page: its address, or 'TEXT' in ADDRESS.
// Other text is a query.
func pageOf(shown string) (url, pattern string) {
	if i := strings.LastIndex(shown, "' in http"); i > 0 && shown[0] == '\'' {
		pattern, shown = shown[1:i], shown[i+len("' in "):]
	}
	for _, scheme := range []string{"http://", "https://"} {
		if strings.HasPrefix(shown, scheme) && !strings.ContainsAny(shown, " \n") {
			return shown, pattern
		}
	}
	return "", ""
}
