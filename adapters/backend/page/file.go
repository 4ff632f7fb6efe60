package page

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/base64"
	"io"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/backend/replay"
	"github.com/turnspec/turnspec/adapters/event"
)

// frameTime is the shortest time between two frames: a screen shows no more.
const frameTime = 16 * time.Millisecond

// Frame is a patch at a time of the session, in milliseconds after its first event.
type Frame struct {
	At    int64  `json:"at"`
	Patch *Patch `json:"patch"`
}

// Recording is a session as a page replays it.
type Recording struct {
	Title  string  `json:"title"`
	Frames []Frame `json:"frames"`
}

// Record returns the session that stored events make, which may be in any order. The
// options are those of replay.New.
func Record(title string, events []event.Event, options ...replay.Option) *Recording {
	events = slices.Clone(events)
	slices.SortStableFunc(events, func(a, b event.Event) int {
		return cmp.Or(cmp.Compare(a.SessionID, b.SessionID), cmp.Compare(a.Seq, b.Seq))
	})
	rec := &Recording{Title: title, Frames: []Frame{}}
	r := replay.New(options...)
	var d Differ
	var shown time.Time
	for i, e := range events {
		r.Add(e)
		if last := i == len(events)-1; !last && events[i+1].TS.Sub(shown) < frameTime && !shown.IsZero() {
			continue
		}
		v := r.View()
		if p := d.Next(slices.Collect(v.Messages()), v, false); p != nil {
			rec.Frames = append(rec.Frames, Frame{e.TS.Sub(events[0].TS).Milliseconds(), p})
			shown = e.TS
		}
	}
	return rec
}

// Write writes the recording as one HTML file that refers to no other.
func (r *Recording) Write(w io.Writer) error {
	var b bytes.Buffer
	text := base64.NewEncoder(base64.StdEncoding, &b)
	z := gzip.NewWriter(text)
	if err := json.MarshalWrite(z, r, jsontext.AllowInvalidUTF8(true)); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	if err := text.Close(); err != nil {
		return err
	}
	_, err := io.WriteString(w, document(r.Title, b.String()))
	return err
}
