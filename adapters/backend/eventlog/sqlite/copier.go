package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"sync/atomic"
	"time"
)

const (
	// While there are commits, if the log is relaxed. More to flush at once would delay the
	// commits that come meanwhile for longer.
	flushEvery = 200 * time.Millisecond
	// Of FILE-wal, 128 MiB; above it they are copied into the file. Commits wait for the end of a
	// copy for about 15 ms.
	walPages = 65536
	fewPages = 256 // which the writer may copy, while appends wait
)

// copier is the state of the goroutine that flushes FILE-wal to the disk and copies it
// into the file. If the writer did it, appends would wait meanwhile.
type copier struct {
	log  *Log
	db   *sql.DB
	conn *sql.Conn
	wal  string // the path of FILE-wal

	commits chan struct{} // holds one element if there are commits to flush
	full    chan struct{} // holds one element if FILE-wal has too many pages

	flushes, copies atomic.Int64 // that succeeded
}

func newCopier(ctx context.Context, l *Log, abs string) (*copier, error) {
	db, err := sql.Open("sqlite", dataSource(abs, "mode", "rw"))
	if err != nil {
		return nil, explainError(l.path, "open", err)
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		_ = db.Close()
		return nil, explainError(l.path, "open", err)
	}
	return &copier{log: l, db: db, conn: conn, wal: abs + "-wal", commits: make(chan struct{}, 1), full: make(chan struct{}, 1)}, nil
}

// committed is called by the writer after a commit.
func (c *copier) committed(full bool) {
	if c.log.options.Relaxed {
		signal(c.commits)
	}
	if full {
		signal(c.full)
	}
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// run flushes and copies until the log is closed. Errors are not reported: the events stay
// in FILE-wal, and if the disk is at fault the next commit fails too.
func (c *copier) run() {
	commits := c.commits
	var flush <-chan time.Time
	for {
		select {
		case <-commits:
			commits, flush = nil, time.After(flushEvery)
		case <-flush:
			commits, flush = c.commits, nil
			if c.flush() == nil {
				c.flushes.Add(1)
			}
		case <-c.full:
			if c.copyPages() == nil {
				c.copies.Add(1)
			}
		case <-c.log.closing:
			return
		}
	}
}

// flush flushes FILE-wal to the disk. SQLite holds no locks on it.
func (c *copier) flush() error {
	f, err := os.OpenFile(c.wal, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// copyPages copies FILE-wal into the file. Commits go on meanwhile, so that it copies
// again what they add, until that is little. SQLite flushes both files only when nothing is left; they
// are flushed before, so that commits wait for little more than the time of two flushes.
func (c *copier) copyPages() error {
	for before := 0; ; {
		pages, err := checkpoint(c.conn)
		if err != nil {
			return err
		}
		if pages-before < fewPages || pages > 2*c.log.options.walPages {
			if err := errors.Join(c.flush(), c.log.file.Sync()); err != nil {
				return err
			}
			return c.restart()
		}
		before = pages
	}
}

// restart lets the writer copy the rest. As nothing is left then, SQLite writes the next
// commit to the beginning of FILE-wal.
func (c *copier) restart() error {
	return c.log.sendToWriter(context.Background(), &request{copyRest: true})
}

// checkpoint copies what is in FILE-wal into the file, as far as no reader needs it
// there. It returns the size of FILE-wal in pages.
func checkpoint(conn *sql.Conn) (pages int, err error) {
	var busy, copied int
	err = conn.QueryRowContext(context.Background(), "PRAGMA wal_checkpoint(PASSIVE)").Scan(&busy, &pages, &copied)
	return pages, err
}

func (c *copier) closeConn() error { return errors.Join(c.conn.Close(), c.db.Close()) }
