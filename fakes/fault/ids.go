package fault

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/fixtures"
)

// sessionID is the recorded id of the session or thread of the process that the
// line at a place of the case is of: the last one that was told before it, since
// a session may get another one, else the first.
func sessionID(c *fixtures.Case, place int) string {
	process := c.Wire[place].Process
	last := ""
	for i, w := range c.Wire {
		if w.Dir != fixtures.Out || w.Process != process {
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
		if id := f.Result.Thread.ID; last == "" {
			last = id // others are sub-agents, or beside the session
		}
		if f.SessionID != "" {
			last = f.SessionID
		}
		if last != "" && i >= place {
			break
		}
	}
	return last
}

// frame is what operators need to know of a line, of either runtime.
type frame struct {
	ID     jsontext.Value `json:"id"`
	Method string         `json:"method"`
	Result jsontext.Value `json:"result"`
	Params struct {
		ThreadID string `json:"threadId"`
		TurnID   string `json:"turnId"`
		Turn     struct {
			ID string `json:"id"`
		} `json:"turn"`
	} `json:"params"`

	Type      string `json:"type"`
	UUID      string `json:"uuid"`
	RequestID string `json:"request_id"`
	Request   struct {
		Subtype string `json:"subtype"`
	} `json:"request"`
	Response struct {
		Subtype   string `json:"subtype"`
		RequestID string `json:"request_id"`
	} `json:"response"`
}

// frameOf reads a line; of what has another form, what can be read.
func frameOf(line []byte) (f frame) {
	_ = json.Unmarshal(line, &f, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true)) // of what is no object there is nothing
	return f
}
