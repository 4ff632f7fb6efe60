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

	"github.com/gofrs/flock"
	lib "modernc.org/sqlite/lib"

	"github.com/turnspec/turnspec/adapters/backend/eventlog"
	"github.com/turnspec/turnspec/adapters/backend/eventlog/internal/notify"
)

// Options configure a log. The zero value is ready for use.
type Options struct {
	// ReadOnly opens an existing file without writing to it.
	ReadOnly bool
	// Relaxed acknowledges an append before it is flushed to the disk, which
	// happens about 200 ms later. See the package comment for what a power
	// failure may then lose.
	Relaxed bool
	// Busy is how long to wait while another program writes: 5s if zero.
	Busy time.Duration
	// Poll is the interval at which Follow checks for events that other
	// programs appended: 100ms if zero, never if negative. Events that this
	// Log appends are emitted at once.
	Poll time.Duration

	maxPages int // of the file; for tests
	walPages int // of FILE-wal; tests set fewer
}

// Log is an eventlog.Log in a file.
type Log struct {
	path    string
	file    *openFile
	options Options
	version int // of the file

	readers *sql.DB
	writer  *writer // nil if read-only
	copier  *copier // nil if read-only

	ownerLock *flock.Flock // nil unless Own was called

	changes notify.Notifier
	watch   fileWatch
	closing chan struct{}
	closed  sync.Once
	err     error          // of Close
	running sync.WaitGroup // goroutines
}

var _ eventlog.Log = (*Log)(nil)

const readConnections = 4

// Open opens the log in a file. It creates the file if there is none, but not its
// folder. Several logs, also of several programs, may have the file open at once.
func Open(ctx context.Context, path string, o Options) (_ *Log, err error) {
	if o.Busy == 0 {
		o.Busy = 5 * time.Second
	}
	if o.Poll == 0 {
		o.Poll = 100 * time.Millisecond
	}
	if o.walPages == 0 {
		o.walPages = walPages
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if err := createFile(abs, path, o.ReadOnly); err != nil {
		return nil, err
	}
	l := &Log{path: path, options: o, closing: make(chan struct{})}
	if l.file, err = keepOpen(abs); err != nil { // before SQLite opens it
		return nil, explainError(path, "open", err)
	}
	defer func() {
		if err != nil {
			_ = l.file.release()
		}
	}()
	if !o.ReadOnly {
		if l.writer, err = newWriter(ctx, l, abs); err != nil {
			return nil, err
		}
		if l.copier, err = newCopier(ctx, l, abs); err != nil {
			_ = l.writer.closeConn()
			return nil, err
		}
	}
	if err := l.openReaders(ctx, abs); err != nil {
		if l.writer != nil {
			_ = errors.Join(l.copier.closeConn(), l.writer.closeConn())
		}
		return nil, err
	}
	if l.writer != nil {
		l.running.Go(l.copier.run)
	}
	return l, nil
}

// createFile creates the file if there is none, or explains why it cannot be
// opened.
func createFile(abs, path string, readOnly bool) error {
	openFilesMu.Lock()
	defer openFilesMu.Unlock()
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
		return nil // another program created it first
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: open: there is no folder %s; make it first (%w)", path, filepath.Dir(path), err)
	case errors.Is(err, fs.ErrPermission), isReadOnlyFS(err):
		return fmt.Errorf("%s: open: %w: %s (%w)", path, eventlog.ErrReadOnly, explanations[lib.SQLITE_READONLY].todo, err)
	}
	return err
}

// dataSource returns the name of a file for the driver.
func dataSource(abs string, settings ...string) string {
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
		db, err := sql.Open("sqlite", dataSource(abs, settings...))
		if err != nil {
			return 0, explainError(l.path, "open", err)
		}
		db.SetMaxOpenConns(readConnections + 1) // and one for pollFile
		db.SetMaxIdleConns(readConnections + 1)
		v, err := fileVersion(ctx, db, l.path)
		if err != nil {
			_ = db.Close()
			return 0, err
		}
		l.readers = db
		return v, nil
	}
	v, err := open(settings...)
	if err != nil && l.options.ReadOnly && !hasContent(abs+"-wal") {
		// The folder does not permit the files that readers share (-wal, -shm).
		// No other program has the log open, so none are needed.
		var again error
		if v, again = open(append(settings, "immutable", "1")...); again == nil {
			err = nil
		}
	}
	switch {
	case err != nil:
		return err
	case v == 0 && l.options.ReadOnly:
		_ = l.readers.Close()
		return fmt.Errorf("%s: open: %w: it is empty; append to it first", l.path, eventlog.ErrNotLog)
	}
	l.version = v
	return nil
}

func hasContent(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Size() > 0
}

// Close implements eventlog.Log. It commits the requests that the writer has
// received.
func (l *Log) Close() error {
	l.closed.Do(func() {
		l.watch.mu.Lock() // no follower starts pollFile after this
		close(l.closing)
		l.watch.mu.Unlock()
		l.changes.Close()
		if l.writer != nil {
			l.writer.queue.close()
		}
		l.running.Wait()
		l.err = explainError(l.path, "close", l.readers.Close())
		if l.writer != nil { // last, because SQLite checkpoints when the last connection closes
			l.err = errors.Join(l.err, explainError(l.path, "close", l.copier.closeConn()), explainError(l.path, "close", l.writer.closeConn()))
		}
		l.err = errors.Join(l.err, l.file.release(), l.disown())
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

// methodError returns the error of a method: the context's error or ErrClosed if
// that is the cause, or else err with an explanation.
func (l *Log) methodError(ctx context.Context, op string, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case l.isClosed():
		return eventlog.ErrClosed
	}
	return explainError(l.path, op, err)
}

// checkOpen returns an error if ctx is done or the log is closed.
func (l *Log) checkOpen(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if l.isClosed() {
		return eventlog.ErrClosed
	}
	return nil
}
