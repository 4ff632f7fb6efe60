package standin

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// hooks are the callbacks that a client has given for each event, in order.
type hooks map[string][]string

// readHooks reads those of an initialize.
func readHooks(v jsontext.Value) hooks {
	var given map[string][]struct {
		Callbacks []string `json:"hookCallbackIds"`
	}
	if decode(v, &given) != nil {
		return nil
	}
	h := hooks{}
	for event, matchers := range given {
		for _, m := range matchers {
			h[event] = append(h[event], m.Callbacks...)
		}
	}
	return h
}

// hooksOf are the hooks of an initialize, one a line: event, matcher, limit in
// seconds.
func hooksOf(v jsontext.Value) string {
	var given map[string][]struct {
		Matcher   string   `json:"matcher"`
		Callbacks []string `json:"hookCallbackIds"`
		Timeout   float64  `json:"timeout"`
	}
	if decode(v, &given) != nil {
		return ""
	}
	var out []string
	for event, matchers := range given {
		for _, m := range matchers {
			for range m.Callbacks {
				out = append(out, fmt.Sprintf("%s %q %v", event, m.Matcher, m.Timeout))
			}
		}
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}

// as is the callback that has the place of another client's in h; "" if there
// is none.
func (h hooks) as(other hooks, callback string) string {
	for event, ids := range other {
		for i, id := range ids {
			if id == callback && i < len(h[event]) {
				return h[event][i]
			}
		}
	}
	return ""
}

// nothing reports whether a value says nothing: a hook's reply that only lets
// the runtime go on.
func nothing(v jsontext.Value) bool {
	return v == nil || sameJSON(v, jsontext.Value(`{}`)) || sameJSON(v, jsontext.Value(`{"continue":true}`))
}
