package model

import (
	"bytes"
	"cmp"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// readOptions reads what a request shows of the options of the session.
func (s *Server) readOptions(q *request, body []byte) {
	o := &s.scenario.Opening
	q.instructed = holdsText(body, o.Instructions)
	if o.Effort != "" {
		q.effort = effortIn(body)
	}
	for _, dir := range o.ExtraDirs {
		if holdsText(body, filepath.Join(s.dir, filepath.FromSlash(dir))) {
			q.extraDirs++
		}
	}
	if len(o.SettingSources) == 0 {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(s.scenario.Workspace)) {
		if holdsText(body, strings.TrimSpace(string(s.scenario.Workspace[name]))) {
			q.workspace = append(q.workspace, name)
		}
	}
}

// effortIn returns how much a request wants the model to reason, in the words of each API.
func effortIn(body []byte) string {
	var q struct {
		Chat     string `json:"reasoning_effort"`
		Messages struct {
			Effort string `json:"effort"`
		} `json:"output_config"`
		Responses struct {
			Effort string `json:"effort"`
		} `json:"reasoning"`
	}
	_ = json.Unmarshal(body, &q, asWritten) // a member of another form names no effort
	return cmp.Or(q.Chat, q.Messages.Effort, q.Responses.Effort)
}

// holdsText reports whether a text is part of a string in a JSON document.
func holdsText(body []byte, text string) bool {
	quoted, err := jsontext.AppendQuote(nil, text)
	return err == nil && text != "" && bytes.Contains(body, quoted[1:len(quoted)-1])
}
