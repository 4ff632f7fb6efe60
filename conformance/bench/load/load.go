// Package load answers one question: how is a case played at any length and any
// rate?
//
// A Plan stretches a case: the first delta of its text is said as many times as
// the plan wants, each time with a stamp in its text in place of the words, at
// times that the plan sets and that do not wait for the reader; what repeats the
// text as a whole later holds all that was said. All else is the recording,
// played by the stand-in of package fakes/standin, so that any client may be
// there: the handshake, the barriers, the ids.
//
// A plan is played by a program of its own for each session (Post), by a program
// that serves many sessions (Host), or in this process (Serve).
package load

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/turnspec/turnspec/fakes/standin"
	"github.com/turnspec/turnspec/fixtures"
)

// Plan says what to play.
type Plan struct {
	Case   string  `json:"case"`            // the id of a case
	Corpus string  `json:"corpus,omitzero"` // the folder of the corpus; the embedded one when empty
	Deltas int     `json:"deltas"`          // how many, at least 1
	Rate   float64 `json:"rate,omitzero"`   // of deltas a second; 0: as fast as the reader takes them
	Pad    int     `json:"pad,omitzero"`    // bytes of text in a delta beside its stamp
	// Alone plays without a client: the program says Ready when the recorded
	// client would send its message, and takes a line for the message. So a
	// control needs to know no wire.
	Alone bool `json:"alone,omitzero"`
	// Dir is a folder in which each program that plays leaves its Effort.
	Dir string `json:"dir,omitzero"`
}

// Ready is the line that a program says when it plays alone and waits for the
// line that stands for the message.
const Ready = `{"ready":true}`

// Check says what is wrong with a plan, or nil.
func (p Plan) Check() error {
	switch {
	case p.Deltas < 1:
		return fmt.Errorf("%d deltas: at least one is needed", p.Deltas)
	case p.Rate < 0 || p.Pad < 0:
		return errors.New("rate and pad are from 0 on")
	}
	return nil
}

// Script is a plan made ready to be played, many times.
type Script struct {
	Plan Plan
	c    *fixtures.Case
	life *fixtures.Lifecycle
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
	life, err := corpus.LoadLifecycle(c.Runtime, c.Version)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if textOf(c) == "" {
		return nil, fmt.Errorf("case %s: it holds no delta of text that could be stretched", c.ID)
	}
	made, err := standin.Prepare(c)
	if err != nil {
		return nil, err
	}
	return &Script{Plan: p, c: c, life: life, made: made}, nil
}

// Case is the case that is played.
func (s *Script) Case() *fixtures.Case { return s.c }

// textOf is the text of the first delta, or "".
func textOf(c *fixtures.Case) string {
	for i := range c.Wire {
		if w := &c.Wire[i]; w.Dir == fixtures.Out {
			if t := standin.TextDelta(c.Runtime, w.Bytes); t != "" {
				return t
			}
		}
	}
	return ""
}

// Effort is what playing has cost a program.
type Effort struct {
	PID int   `json:"pid"`
	CPU int64 `json:"cpu"` // nanoseconds, user and system
}
