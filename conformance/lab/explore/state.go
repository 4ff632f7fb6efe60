package explore

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/go-json-experiment/json"
)

// entry is a line of the log of a folder: a scenario that was tried.
type entry struct {
	Runtime     string    `json:"runtime"`
	Version     string    `json:"version"`
	Seed        uint64    `json:"seed"`
	Index       int       `json:"index"`
	Fingerprint string    `json:"fingerprint"`
	Plan        Plan      `json:"plan"`
	Mutant      bool      `json:"mutant,omitzero"` // of a plan that showed something new
	Took        int64     `json:"took_ms"`
	Reason      string    `json:"not_performed,omitempty"`
	Shapes      []uint64  `json:"shapes,omitempty"` // that neither the corpus nor an earlier scenario showed
	Failures    []failure `json:"failures,omitempty"`
	Finding     *Finding  `json:"finding,omitempty"`
}

// state is what a folder holds about the scenarios that were tried before.
type state struct {
	file     *os.File
	tried    map[string]bool
	seen     shapes
	kept     []Plan // that showed something new
	next     map[uint64]int
	spent    time.Duration
	findings []Finding
	known    map[string]int // index of the finding, by its signature
	counts   struct{ performed, notPerformed, shapes int }
	reasons  map[string]int
}

const logName = "log.jsonl"

// openState reads the log of the folder and opens it for more lines.
func openState(dir, runtime string) (*state, error) {
	s := &state{tried: map[string]bool{}, seen: shapes{}, next: map[uint64]int{}, known: map[string]int{}, reasons: map[string]int{}}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	file := filepath.Join(dir, logName)
	b, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	whole := b[:bytes.LastIndexByte(b, '\n')+1] // the last line may be half written
	in := bufio.NewScanner(bytes.NewReader(whole))
	in.Buffer(nil, 1<<24)
	for n := 1; in.Scan(); n++ {
		var e entry
		if err := json.Unmarshal(in.Bytes(), &e); err != nil {
			return nil, fmt.Errorf("%s:%d: %w; name another folder with --dir", file, n, err)
		}
		if e.Runtime != runtime {
			return nil, fmt.Errorf("%s:%d: the folder is of %s, not of %s; name another one with --dir", file, n, e.Runtime, runtime)
		}
		s.take(e)
	}
	if err := in.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if s.file, err = os.OpenFile(file, os.O_CREATE|os.O_WRONLY, 0o644); err != nil {
		return nil, err
	}
	if err := s.file.Truncate(int64(len(whole))); err != nil {
		return nil, err
	}
	_, err = s.file.Seek(int64(len(whole)), 0)
	return s, err
}

// take adds an entry to what is known.
func (s *state) take(e entry) {
	s.tried[e.Fingerprint] = true
	s.next[e.Seed] = max(s.next[e.Seed], e.Index+1)
	s.spent += time.Duration(e.Took) * time.Millisecond
	for _, h := range e.Shapes {
		s.seen[h] = true
	}
	if e.Reason != "" {
		s.counts.notPerformed++
		s.reasons[reason(e.Reason)]++
		return
	}
	s.counts.performed++
	s.counts.shapes += len(e.Shapes)
	if len(e.Shapes) > 0 {
		s.kept = append(s.kept, e.Plan)
	}
	for _, f := range e.Failures {
		if i, ok := s.known[f.signature()]; ok {
			s.findings[i].Times++
		}
	}
	if e.Finding != nil {
		s.findings = append(s.findings, *e.Finding)
		for _, f := range e.Failures {
			if _, ok := s.known[f.signature()]; !ok && f.same(failure{Check: e.Finding.Check, Tier: e.Finding.Tier}) {
				s.known[f.signature()] = len(s.findings) - 1
			}
		}
	}
}

// write appends an entry to the log.
func (s *state) write(e entry) error {
	b, err := json.Marshal(e, json.Deterministic(true))
	if err != nil {
		return err
	}
	s.take(e)
	_, err = s.file.Write(append(b, '\n'))
	return err
}
