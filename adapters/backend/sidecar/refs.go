package sidecar

import (
	"cmp"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/turnspec/turnspec/adapters/backend/eventlog"
	"github.com/turnspec/turnspec/adapters/event"
)

// ref answers with the event that a reference names: SESSION#SEQ.
func (s *Server) ref(w http.ResponseWriter, r *http.Request) error {
	ref := r.PathValue("ref")
	at := strings.LastIndexByte(ref, '#') // an id may hold one
	if at < 0 {
		return refuse(http.StatusBadRequest, CodeInvalid, "%.100q is no reference: it must be SESSION#SEQ, with # as %%23", ref)
	}
	seq, err := strconv.ParseInt(ref[at+1:], 10, 64)
	if err != nil || seq < 1 {
		return refuse(http.StatusBadRequest, CodeInvalid, "%.100q is no reference: after # must be the seq of an event", ref)
	}
	session := ref[:at]
	if err := cmp.Or(checkID(session), s.checkOwner(r.Context(), session)); err != nil {
		return err
	}
	events, err := s.c.Log.Read(r.Context(), session, seq-1, 1)
	if err != nil {
		return err
	}
	if len(events) == 0 {
		return refuse(http.StatusNotFound, CodeUnknownID, "session %q has no event %d", session, seq)
	}
	answer(w, http.StatusOK, events[0])
	return nil
}

// artifact is a file that tools of a session changed.
type artifact struct {
	Path     string    `json:"path"`
	Versions []version `json:"versions"`
}

// version is one change of an artifact.
type version struct {
	ID        string           `json:"id"`  // PATH@N
	Ref       string           `json:"ref"` // the tool_result that holds it
	Kind      event.ChangeKind `json:"kind"`
	From      string           `json:"from,omitempty"` // its path before it was moved
	Diff      string           `json:"diff,omitempty"`
	ToolUseID string           `json:"tool_use_id"`
	Turn      int              `json:"turn,omitzero"`
	TS        time.Time        `json:"ts"`
}

// artifacts answers with the files that tools of the session changed, in the order of their first change.
func (s *Server) artifacts(w http.ResponseWriter, r *http.Request) error {
	id := r.PathValue("id")
	if _, err := s.stored(r.Context(), id); err != nil {
		return err
	}
	all, index := []artifact{}, map[string]int{}
	for e, err := range eventlog.All(r.Context(), s.c.Log, id, 0) {
		if err != nil {
			return err
		}
		d, is := e.Data.(event.ToolResult)
		if !is {
			continue
		}
		for _, c := range d.Changes {
			v := version{Kind: c.Kind, Diff: c.Diff, ToolUseID: d.ToolUseID, Turn: e.Turn, TS: e.TS, Ref: id + "#" + strconv.FormatInt(e.Seq, 10)}
			path := c.Path
			if c.MoveTo != "" {
				path, v.From = c.MoveTo, c.Path
			}
			at, known := index[path]
			if !known {
				at = len(all)
				index[path] = at
				all = append(all, artifact{Path: path})
			}
			a := &all[at]
			v.ID = path + "@" + strconv.Itoa(len(a.Versions)+1)
			a.Versions = append(a.Versions, v)
		}
	}
	answer(w, http.StatusOK, map[string]any{"artifacts": all})
	return nil
}
