package fault

import (
	"bytes"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/fixtures"
)

// sessionIDs are, for each line of stdout, the recorded id of the session or
// thread of its process: the last one that was told until then, since a session
// may get another one, else the first.
func sessionIDs(c *fixtures.Case) []string {
	out := make([]string, len(c.Wire))
	type process struct {
		last    string
		waiting []int // lines before the first id
	}
	processes := map[int]*process{}
	for i, w := range c.Wire {
		if w.Dir != fixtures.Out {
			continue
		}
		p := processes[w.Process]
		if p == nil {
			p = &process{}
			processes[w.Process] = p
		}
		session, thread := opened(w.Bytes)
		if p.last == "" {
			p.last = thread // others are sub-agents, or beside the session
		}
		if session != "" {
			p.last = session
		}
		if p.waiting = append(p.waiting, i); p.last == "" {
			continue
		}
		for _, k := range p.waiting {
			out[k] = p.last
		}
		p.waiting = p.waiting[:0]
	}
	return out
}

// opened are the session and the thread that a line tells of.
func opened(line []byte) (session, thread string) {
	if !bytes.Contains(line, []byte(`"session_id"`)) && !bytes.Contains(line, []byte(`"thread"`)) {
		return "", ""
	}
	var f struct {
		SessionID string `json:"session_id"`
		Result    struct {
			Thread struct {
				ID string `json:"id"`
			} `json:"thread"`
		} `json:"result"`
	}
	if json.Unmarshal(line, &f, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true)) != nil {
		return "", ""
	}
	return f.SessionID, f.Result.Thread.ID
}

// turnIDs are, for each line of stdout, the recorded id of its session's turn
// that runs then, or "".
func turnIDs(c *fixtures.Case) []string {
	type session struct {
		process int
		id      string
	}
	out, sessions := make([]string, len(c.Wire)), sessionIDs(c)
	running := map[session]string{}
	for i, w := range c.Wire {
		if w.Dir == fixtures.Out {
			running[session{w.Process, sessions[i]}] = ""
		}
	}
	for i, w := range c.Wire {
		if w.Dir != fixtures.Out {
			continue
		}
		if bytes.Contains(w.Bytes, []byte(`"turnId"`)) || bytes.Contains(w.Bytes, []byte(`"turn/`)) {
			f := frameOf(w.Bytes)
			s := session{w.Process, f.Params.ThreadID}
			if id, known := running[s]; known {
				switch {
				case f.Method == "turn/started" && id == "":
					running[s] = f.Params.Turn.ID
				case f.Method == "turn/completed":
					running[s] = ""
				case id != "" && strings.HasPrefix(f.Method, "item/"):
					running[s] = f.Params.TurnID // older versions begin the next turn within the one that goes on
				}
			}
		}
		out[i] = running[session{w.Process, sessions[i]}]
	}
	return out
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
