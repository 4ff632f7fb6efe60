package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"

	lib "modernc.org/sqlite/lib"

	"github.com/turnspec/turnspec/adapters/eventlog"
	"github.com/turnspec/turnspec/adapters/eventlog/internal/wake"
)

// Options say how to open a log. The zero value is ready for use.
type Options struct {
	// ReadOnly opens a file that exists, and writes nothing to it.
	ReadOnly bool
	// Relaxed acknowledges an append before it is on the disk; the package's
	// comment says what that may lose.
	Relaxed bool
	// Busy is how long to wait while another program writes: 5s when zero.
	Busy time.Duration
	// Poll is how often a Follow looks for what other programs wrote: each
	// 100ms when zero, never when negative. What this Log writes it sees at
	// once.
	Poll time.Duration

	maxPages int // of the file; for tests
	version  int // to make, instead of the newest; for tests
}

// Log is an eventlog.Log in a file.
type Log struct {
	path    string
	options Options
	version int // of the file

	readers *sql.DB
	writer  *writer // nil when it is read only

	wake    wake.Board
	watch   watch
	closing chan struct{}
	closed  sync.Once
	err     error          // of Close
	running sync.WaitGroup // goroutines
}

var _ eventlog.Log = (*Log)(nil)

const readConnections = 4

// Open opens the log in a file and makes it where there is none, in a folder
// that exists. Several may have it open at once, in several programs too.
func Open(ctx context.Context, path string, o Options) (*Log, error) {
	if o.Busy == 0 {
		o.Busy = 5 * time.Second
	}
	if o.Poll == 0 {
		o.Poll = 100 * time.Millisecond
	}
	if o.version == 0 {
		o.version = version
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if err := reach(abs, path, o.ReadOnly); err != nil {
		return nil, err
	}
	l := &Log{path: path, options: o, closing: make(chan struct{})}
	if !o.ReadOnly {
		if l.writer, err = newWriter(ctx, l, abs); err != nil {
			return nil, err
		}
	}
	if err := l.openReaders(ctx, abs); err != nil {
		if l.writer != nil {
			_ = l.writer.db.Close() // the first error is the one to tell
		}
		return nil, err
	}
	if l.writer != nil {
		l.running.Go(l.writer.run)
	}
	return l, nil
}

// making is held while a file is made: a program that closes a file that it has
// open elsewhere loses all its locks on it, those of SQLite too.
var making sync.Mutex

// reach makes a new file, and says in plain words why one cannot be opened.
func reach(abs, path string, readOnly bool) error {
	making.Lock()
	defer making.Unlock()
	info, err := os.Stat(abs)
	switch {
	case err == nil && info.IsDir():
		return fmt.Errorf("%s: open: %w: it is a folder; name a file", path, eventlog.ErrNotLog)
	case err == nil, readOnly || !errors.Is(err, fs.ErrNotExist):
		return err
	}
	f, err := os.OpenFile(abs, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	switch {
	case err == nil:
		return f.Close()
	case errors.Is(err, fs.ErrExist):
		return nil // another program was quicker
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: open: there is no folder %s; make it first (%w)", path, filepath.Dir(path), err)
	case errors.Is(err, fs.ErrPermission), isReadOnlyFS(err):
		return fmt.Errorf("%s: open: %w: %s (%w)", path, eventlog.ErrReadOnly, explanations[lib.SQLITE_READONLY].todo, err)
	}
	return err
}

// source names a file for the driver.
func source(abs string, settings ...string) string {
	u := url.URL{Scheme: "file", Path: filepath.ToSlash(abs)}
	q := url.Values{}
	for i := 0; i+1 < len(settings); i += 2 {
		q.Add(settings[i], settings[i+1])
	}
	u.RawQuery = q.Encode()
	return u.String()
}

func (l *Log) openReaders(ctx context.Context, abs string) error {
	settings := []string{
		"_pragma", fmt.Sprintf("busy_timeout(%d)", l.options.Busy.Milliseconds()),
		"_pragma", "query_only(1)",
	}
	if l.options.ReadOnly {
		settings = append(settings, "mode", "ro")
	} else {
		settings = append(settings, "mode", "rw")
	}
	open := func(settings ...string) (int, error) {
		db, err := sql.Open("sqlite", source(abs, settings...))
		if err != nil {
			return 0, fail(l.path, "open", err)
		}
		db.SetMaxOpenConns(readConnections + 1) // one watches
		db.SetMaxIdleConns(readConnections + 1)
		v, err := versionOf(ctx, db, l.path)
		if err != nil {
			_ = db.Close() // the first error is the one to tell
			return 0, err
		}
		l.readers = db
		return v, nil
	}
	v, err := open(settings...)
	if err != nil && l.options.ReadOnly && !exists(abs+"-wal") {
		// Nobody has it open, and the folder does not let us make the files that
		// a reader shares with others: nothing is to be shared.
		var again error
		if v, again = open(append(settings, "immutable", "1")...); again == nil {
			err = nil
		}
	}
	switch {
	case err != nil:
		return err
	case v == 0 && l.options.ReadOnly:
		_ = l.readers.Close() // the first error is the one to tell
		return fmt.Errorf("%s: open: %w: it is empty; append to it first", l.path, eventlog.ErrNotLog)
	}
	l.version = v
	return nil
}

func exists(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Size() > 0
}

// Close implements eventlog.Log: what the writer has taken is committed first.
func (l *Log) Close() error {
	l.closed.Do(func() {
		l.watch.mu.Lock() // nobody begins to watch any more
		close(l.closing)
		l.watch.mu.Unlock()
		l.wake.Close()
		l.running.Wait()
		l.err = fail(l.path, "close", l.readers.Close())
		if l.writer != nil { // last, since the last one tidies up
			l.err = errors.Join(l.err, fail(l.path, "close", l.writer.close()))
		}
	})
	return l.err
}

func (l *Log) isClosed() bool {
	select {
	case <-l.closing:
		return true
	default:
		return false
	}
}

// fail is an error of a method: ErrClosed when that is why, or the context's
// own.
func (l *Log) fail(ctx context.Context, op string, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case l.isClosed():
		return eventlog.ErrClosed
	}
	return fail(l.path, op, err)
}

// ready says whether a method may begin.
func (l *Log) ready(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if l.isClosed() {
		return eventlog.ErrClosed
	}
	return nil
}
