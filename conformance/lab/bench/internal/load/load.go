// Package load plays a case at any length and rate.
//
// A Plan stretches a case: it repeats the first delta of text as often as it wants,
// with a stamp in place of the text, at times that do not depend on the reader. A
// line that later repeats the text as a whole has all of it. The rest is the
// recording, played by fakes/standin with its handshake, barriers and ids, so any
// client can read it.
//
// A plan is played by a program for each session (Post), by one program for many
// sessions (Host), or in this process (Serve).
package load

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/turnspec/turnspec/fakes/standin"
	"github.com/turnspec/turnspec/fixtures"
)

// Plan is what to play.
type Plan struct {
	Case   string  `json:"case"`            // the id of a case
	Corpus string  `json:"corpus,omitzero"` // the folder of the corpus; "" for the embedded one
	Deltas int     `json:"deltas"`          // at least 1
	Rate   float64 `json:"rate,omitzero"`   // deltas a second; 0 means as fast as the reader reads
	Pad    int     `json:"pad,omitzero"`    // bytes of text in a delta, in addition to its stamp
	// Alone plays without a client, for controls that read no wire: the program
	// writes Ready when the recorded client would send its message, and takes any
	// line for the message.
	Alone bool `json:"alone,omitzero"`
	// Dir is a folder in which each playing program writes its Effort.
	Dir string `json:"dir,omitzero"`
}

// Ready is the line that a program writes when it plays alone and waits for a line
// in place of the message.
const Ready = `{"ready":true}`

// Check returns what is wrong with a plan, or nil.
func (p Plan) Check() error {
	switch {
	case p.Deltas < 1:
		return fmt.Errorf("%d deltas: at least one is needed", p.Deltas)
	case p.Rate < 0 || p.Pad < 0:
		return errors.New("rate and pad are from 0 on")
	}
	return nil
}

// Script is a plan with its case. It can be played many times.
type Script struct {
	Plan Plan
	c    *fixtures.Case
	life *fixtures.ReadReplies
	made *standin.Prepared
}

// Load reads the case of a plan.
func (p Plan) Load() (*Script, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	corpus := fixtures.Embedded()
	if p.Corpus != "" {
		corpus = fixtures.Corpus{FS: os.DirFS(p.Corpus), Root: p.Corpus}
	}
	c, err := corpus.LoadCase(p.Case)
	if err != nil {
		return nil, err
	}
	life, err := corpus.LoadReadReplies(c.Runtime, c.Version)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if firstText(c) == "" {
		return nil, fmt.Errorf("case %s: it holds no delta of text that could be stretched", c.ID)
	}
	made, err := standin.Prepare(c)
	if err != nil {
		return nil, err
	}
	return &Script{Plan: p, c: c, life: life, made: made}, nil
}

// Case returns the case.
func (s *Script) Case() *fixtures.Case { return s.c }

// firstText returns the text of the first delta, or "".
func firstText(c *fixtures.Case) string {
	for i := range c.Wire {
		if w := &c.Wire[i]; w.Dir == fixtures.Out {
			if t := standin.TextDelta(c.Runtime, w.Bytes); t != "" {
				return t
			}
		}
	}
	return ""
}

// Effort is the cost of playing.
type Effort struct {
	PID int   `json:"pid"`
	CPU int64 `json:"cpu"` // nanoseconds, user and system
}
