package fault

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/fixtures"
)

// sessionID is the recorded id of the case's session or thread.
func sessionID(c *fixtures.Case) string {
	for _, w := range c.Wire {
		if w.Dir != fixtures.Out {
			continue
		}
		var f struct {
			SessionID string `json:"session_id"`
			Result    struct {
				Thread struct {
					ID string `json:"id"`
				} `json:"thread"`
			} `json:"result"`
		}
		if json.Unmarshal(w.Bytes, &f, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true)) != nil {
			continue
		}
		if id := f.SessionID + f.Result.Thread.ID; id != "" {
			return id
		}
	}
	return ""
}
