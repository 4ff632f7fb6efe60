// Package tap records the lines between a runtime and its client while they pass, and
// changes nothing about them. It is not part of the stable interface.
//
// [Exec] is for a client that starts a program: the program takes the place of the process
// that calls it, with its id, group, parent and exit code, and a second process relays its
// stdin, stdout and stderr. [Folder] is for a client that is part of this module.
//
// A recording is a file of its own for each process. Its lines have the form of the section
// wire of a case (see package fixtures). It is redacted as package redact says, and can be
// read while it is written. Package capture makes a case of it.
package tap

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/recorder/redact"
)

// Limits of a recording.
const (
	// maxQueued is how many bytes may wait to be written. A disk that is slower than that
	// ends the recording, and not the session.
	maxQueued = 256 << 20
	// maxHeld is how many bytes of deltas are held back at most, because a secret may be cut
	// by any of them, and holdTime is how long they are after the last one.
	maxHeld  = 4 << 20
	holdTime = 2 * time.Second
)

// Create creates the file of a recording in a folder, which it creates too. The names of the
// files sort by the time at which their programs were started.
func Create(dir, program string) (*os.File, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	name := time.Now().UTC().Format("20060102T150405.000Z") + "-" + filepath.Base(program)
	for n := 0; ; n++ {
		file := filepath.Join(dir, fmt.Sprintf("%s-%d.jsonl", name, os.Getpid()+n))
		f, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, 0o600)
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
}

// Recording writes what its methods are given to a file, in a goroutine. The methods never
// wait for the file, and never fail: after an error nothing more is written, and what was
// written whole stays. They may be called from several goroutines.
type Recording struct {
	start  time.Time
	failed func(error)
	done   chan struct{} // the goroutine has ended

	mu     sync.Mutex
	queue  []fixtures.WireLine
	queued int  // bytes
	ended  bool // nothing more is taken
	err    error
	wake   chan struct{} // holds an element if the queue or ended has changed
}

// Start begins the recording of a program. failed is called at most once, with the error
// because of which the recording ends early. The recording closes the file.
func Start(f *os.File, argv []string, failed func(error)) *Recording {
	r := &Recording{start: time.Now(), failed: failed, done: make(chan struct{}), wake: make(chan struct{}, 1)}
	r.add(fixtures.WireLine{Dir: fixtures.Spawn, Argv: append([]string{filepath.Base(argv[0])}, argv[1:]...)})
	go r.write(f)
	return r
}

// add queues a line. It does not copy it.
func (r *Recording) add(l fixtures.WireLine) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended {
		return
	}
	l.T, l.Process = time.Since(r.start), 1
	r.queue = append(r.queue, l)
	if r.queued += len(l.Bytes); r.queued > maxQueued {
		r.end(fmt.Errorf("more than %d MiB wait to be written", maxQueued>>20))
	}
	r.notify()
}

// end ends the recording. The caller holds the lock.
func (r *Recording) end(err error) {
	r.ended, r.err = true, cmp.Or(r.err, err)
	r.notify()
}

func (r *Recording) notify() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// Lines returns a writer that splits what it is given into lines of a direction: In, Out or
// Err. It must be closed, which records a line that has no end.
func (r *Recording) Lines(dir fixtures.Dir) *Lines {
	return &Lines{Add: func(b []byte) { r.add(fixtures.WireLine{Dir: dir, Bytes: b}) }}
}

// EOF records that the client has closed stdin.
func (r *Recording) EOF() { r.add(fixtures.WireLine{Dir: fixtures.EOF}) }

// Exit records how the program has ended.
func (r *Recording) Exit(e proc.Exit) {
	r.add(fixtures.WireLine{Dir: fixtures.Exit, Code: e.Code, Signal: string(e.Signal)})
}

// Close ends the recording, and returns when all is written.
func (r *Recording) Close() {
	r.mu.Lock()
	r.end(nil)
	r.mu.Unlock()
	<-r.done
}

// write writes the lines until the recording has ended.
func (r *Recording) write(f *os.File) {
	defer close(r.done)
	err := r.writeLines(f)
	if err != nil {
		r.mu.Lock()
		r.end(err)
		r.queue = nil
		r.mu.Unlock()
	}
	if err = errors.Join(err, f.Close()); err != nil && r.failed != nil {
		r.failed(err)
	}
}

func (r *Recording) writeLines(f *os.File) error {
	stream, err := redact.NewStream(redact.Here())
	if err != nil {
		return err
	}
	var held []fixtures.WireLine // deltas, whose text may go on
	size := 0
	flush := func() error {
		lines := held
		held, size = nil, 0
		return appendLines(f, stream, lines)
	}
	quiet := time.NewTimer(holdTime)
	defer quiet.Stop()
	for {
		select {
		case <-r.wake:
		case <-quiet.C:
			if err := flush(); err != nil {
				return err
			}
		}
		lines, ended, err := r.take()
		for _, l := range lines {
			held = append(held, l)
			if size += len(l.Bytes); !redact.IsPiece(&l) || size > maxHeld {
				if err := flush(); err != nil {
					return err
				}
			}
		}
		if len(lines) > 0 {
			quiet.Reset(holdTime)
		}
		if ended {
			return errors.Join(flush(), err)
		}
	}
}

// take returns the lines of the queue.
func (r *Recording) take() (lines []fixtures.WireLine, ended bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	lines, r.queue, r.queued = r.queue, nil, 0
	return lines, r.ended, r.err
}

// appendLines redacts lines and writes them. If they cannot be written whole, none is.
func appendLines(f *os.File, stream *redact.Stream, lines []fixtures.WireLine) error {
	if len(lines) == 0 {
		return nil
	}
	if err := stream.Lines(lines); err != nil {
		return err
	}
	b, err := fixtures.FormatWire(lines)
	if err != nil {
		return err
	}
	before, err := f.Seek(0, 2)
	if err != nil {
		return err
	}
	if _, err := f.Write(b); err != nil {
		return errors.Join(err, f.Truncate(before))
	}
	return nil
}

// ErrorFile returns the name of the file beside a recording that says why it is not whole.
func ErrorFile(recording string) string {
	return strings.TrimSuffix(recording, ".jsonl") + ".error.txt"
}
