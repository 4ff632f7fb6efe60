package jsonl

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/event"
)

// envelope is an event as a program may write it: it may leave out what the
// suite can fill in, which then is not judged.
type envelope struct {
	Type       event.Type     `json:"type"`
	Data       jsontext.Value `json:"data"`
	TS         string         `json:"ts,omitempty"`
	Seq        int64          `json:"seq,omitzero"`
	SessionID  string         `json:"session_id,omitempty"`
	Turn       int            `json:"turn,omitzero"`
	SubagentID string         `json:"subagent_id,omitempty"`
}

// decode reads an event.
func (x *session) decode(b []byte) (event.Event, error) {
	var e envelope
	if err := json.Unmarshal(b, &e, json.RejectUnknownMembers(true)); err != nil {
		return event.Event{}, err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.hello.Events != nil && !x.declared(e.Type) {
		return event.Event{}, fmt.Errorf("type: hello did not declare %q among its events", e.Type)
	}
	if e.TS == "" {
		x.fills["ts"] = true
		e.TS = time.Now().UTC().Format(time.RFC3339Nano)
	}
	if e.SessionID == "" {
		e.SessionID = x.sessionID
	}
	switch {
	case e.Seq == 0:
		x.fills["seq"] = true
		x.seq++
		e.Seq = x.seq
	case x.fills["seq"]:
		return event.Event{}, errors.New("seq: either all events have it or none, and an earlier one had none")
	}
	whole, err := json.Marshal(e)
	if err != nil {
		return event.Event{}, err
	}
	return event.Decode(whole)
}

func (x *session) declared(t event.Type) bool {
	return slices.Contains(x.hello.Events, t)
}

// resolve finds the program in our own PATH, not in that with the stand-in.
func resolve(argv []string, dir string) ([]string, error) {
	if len(argv) == 0 {
		return nil, errors.New("no command")
	}
	name := argv[0]
	if strings.ContainsRune(name, os.PathSeparator) {
		if dir == "" && !filepath.IsAbs(name) {
			abs, err := filepath.Abs(name)
			if err != nil {
				return nil, err
			}
			name = abs
		}
	}
	found, err := exec.LookPath(name)
	if err != nil {
		return nil, err
	}
	return append([]string{found}, argv[1:]...), nil
}
