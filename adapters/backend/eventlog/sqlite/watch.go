package sqlite

import (
	"context"
	"database/sql"
	"sync"
	"time"
)

// fileWatch is the state of the goroutine that polls the file for events of other
// programs. It runs while there are followers.
type fileWatch struct {
	mu        sync.Mutex
	followers int
	stop      chan struct{}
}

// watchFile is called by each follower before it reads. The follower calls leave
// when it ends.
func (l *Log) watchFile() (leave func()) {
	if l.options.Poll < 0 {
		return func() {}
	}
	w := &l.watch
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.followers++; w.followers == 1 && !l.isClosed() {
		// Taken before the first follower reads, so that no commit is missed.
		w.stop = make(chan struct{})
		stop, seen := w.stop, int64(-1)
		conn, err := l.readers.Conn(context.Background())
		if err == nil {
			seen, _ = dataVersion(conn) // with -1 all followers read once more
		}
		l.running.Go(func() { l.pollFile(conn, seen, stop) })
	}
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.followers--; w.followers == 0 && w.stop != nil {
			close(w.stop)
			w.stop = nil
		}
	}
}

// dataVersion returns a number that changes when another connection commits.
func dataVersion(conn *sql.Conn) (v int64, err error) {
	err = conn.QueryRowContext(context.Background(), "PRAGMA data_version").Scan(&v)
	return v, err
}

func (l *Log) pollFile(conn *sql.Conn, seen int64, stop <-chan struct{}) {
	defer func() {
		if conn != nil {
			_ = conn.Close() // returns it to the pool
		}
	}()
	ticker := time.NewTicker(l.options.Poll)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-stop:
			return
		case <-l.closing:
			return
		}
		now := int64(-1)
		var err error
		if conn == nil {
			conn, err = l.readers.Conn(context.Background())
		}
		if err == nil {
			now, err = dataVersion(conn)
		}
		if err != nil || now != seen {
			seen = now
			l.changes.NotifyAll() // if it failed too: the next read returns the error
		}
	}
}
