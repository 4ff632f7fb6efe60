package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

const (
	copyEvery = time.Second // while there are commits
	walPages  = 8192        // above this the writer begins FILE-wal anew
)

// copier is the state of the goroutine that copies commits from FILE-wal into the file
// and flushes both to the disk. If the writer did it, appends would wait meanwhile.
type copier struct {
	log  *Log
	db   *sql.DB
	conn *sql.Conn

	commits chan struct{} // holds one element if there are commits to copy
	many    chan struct{} // holds one element if there are too many to wait
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
	return &copier{log: l, db: db, conn: conn, commits: make(chan struct{}, 1), many: make(chan struct{}, 1)}, nil
}

// committed is called by the writer after a commit.
func (c *copier) committed(many bool) {
	signal(c.commits)
	if many {
		signal(c.many)
	}
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// copyCommits copies commits until the log is closed.
func (c *copier) copyCommits() {
	for {
		select {
		case <-c.commits:
		case <-c.log.closing:
			return
		}
		select {
		case <-time.After(copyEvery):
		case <-c.many:
		case <-c.log.closing:
			return
		}
		pages, err := checkpoint(c.conn)
		if err == nil && pages > c.log.options.walPages {
			err = c.beginAnew()
		}
		_ = err // the events stay in FILE-wal, and if the disk is at fault the next commit fails too
	}
}

// beginAnew lets the writer copy the few commits that came meanwhile. As nothing is left
// then, SQLite writes the next one to the beginning of FILE-wal.
func (c *copier) beginAnew() error {
	r := &request{copyRest: true, done: make(chan error, 1)}
	select {
	case c.log.writer.requests <- r:
		return <-r.done
	case <-c.log.closing:
		return nil
	}
}

// checkpoint copies what is in FILE-wal into the file, as far as no reader needs it
// there. It returns the size of FILE-wal in pages.
func checkpoint(conn *sql.Conn) (pages int, err error) {
	var busy, copied int
	err = conn.QueryRowContext(context.Background(), "PRAGMA wal_checkpoint(PASSIVE)").Scan(&busy, &pages, &copied)
	return pages, err
}

func (c *copier) closeConn() error { return errors.Join(c.conn.Close(), c.db.Close()) }
