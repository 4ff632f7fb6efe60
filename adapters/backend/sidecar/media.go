package sidecar

import (
	"bytes"
	"mime"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/backend/eventlog"
	"github.com/turnspec/turnspec/adapters/event"
)

// inlineTypes are the types of media that a browser may show by itself: images and sounds that
// hold no scripts. An image in SVG may hold some.
var inlineTypes = []string{
	"image/avif", "image/gif", "image/jpeg", "image/png", "image/webp",
	"audio/aac", "audio/flac", "audio/mp4", "audio/mpeg", "audio/ogg", "audio/wav", "audio/wave", "audio/webm", "audio/x-wav",
}

// media answers with the bytes of a medium to which an event of the session refers. A tool
// chose them and their type, so a browser must neither guess another type nor run them.
func (s *Server) media(w http.ResponseWriter, r *http.Request) error {
	id := r.PathValue("id")
	if s.running(r.Context(), id) == nil { // of one that runs, the log may hold nothing yet
		if _, err := s.stored(r.Context(), id); err != nil {
			return err
		}
	}
	m, data, err := s.c.Log.Media(r.Context(), id, r.PathValue("hash"))
	if err != nil {
		return err
	}
	kind, disposition := "application/octet-stream", "attachment"
	if name, parameters, err := mime.ParseMediaType(m.MIME); err == nil && strings.Contains(name, "/") {
		kind = mime.FormatMediaType(name, parameters)
		if slices.Contains(inlineTypes, name) {
			kind, disposition = name, "inline"
		}
	}
	h := w.Header()
	h.Set("Content-Type", kind)
	h.Set("Content-Disposition", disposition)
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "private, max-age=31536000, immutable")
	h.Set("ETag", `"`+m.SHA256+`"`)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
	return nil
}

// storeMedia lets the session hand over media to the recorder, and to the function of the
// server's options, if there is one.
func storeMedia(o *adapters.Options) *eventlog.MediaQueue {
	q, also := &eventlog.MediaQueue{}, o.Media
	o.Media = q.Add
	if also != nil {
		o.Media = func(m event.Media, data []byte) {
			q.Add(m, bytes.Clone(data)) // also owns the others
			also(m, data)
		}
	}
	return q
}
