package sqlite

import (
	"context"
	"database/sql"
	"sync"
	"time"
)

// watch looks for what other programs write, while somebody follows.
type watch struct {
	mu        sync.Mutex
	followers int
	stop      chan struct{}
}

// watchOthers is called by each follower before it reads; what it returns, when
// it has gone.
func (l *Log) watchOthers() (leave func()) {
	if l.options.Poll < 0 {
		return func() {}
	}
	w := &l.watch
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.followers++; w.followers == 1 && !l.isClosed() {
		// The version that the first follower starts from is taken before it reads.
		w.stop = make(chan struct{})
		stop, seen := w.stop, int64(-1)
		conn, err := l.readers.Conn(context.Background())
		if err == nil {
			seen, _ = dataVersion(conn) // -1 wakes all once, which harms nobody
		}
		l.running.Go(func() { l.poll(conn, seen, stop) })
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

// dataVersion is a number that changes when another connection has committed.
func dataVersion(conn *sql.Conn) (v int64, err error) {
	err = conn.QueryRowContext(context.Background(), "PRAGMA data_version").Scan(&v)
	return v, err
}

func (l *Log) poll(conn *sql.Conn, seen int64, stop <-chan struct{}) {
	defer func() {
		if conn != nil {
			_ = conn.Close() // it goes back into the pool
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
			l.wake.All() // with an error too: who reads is told
		}
	}
}
