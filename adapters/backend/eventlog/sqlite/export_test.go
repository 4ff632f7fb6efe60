package sqlite

import (
	"context"
	"testing"
)

// WithMaxPages limits the size of the file, as a full disk does.
func (o Options) WithMaxPages(n int) Options {
	o.maxPages = n
	return o
}

// WithWALPages sets the size above which FILE-wal is copied and restarted.
func (o Options) WithWALPages(n int) Options {
	o.walPages = n
	return o
}

// Flushes returns how often FILE-wal was flushed after the commits.
func (l *Log) Flushes() int64 { return l.copier.flushes.Load() }

// Copies returns how often FILE-wal was copied into the file and restarted.
func (l *Log) Copies() int64 { return l.copier.copies.Load() }

// MorePages removes the limit. No append may run.
func (l *Log) MorePages(t *testing.T) {
	t.Helper()
	if _, err := l.writer.conn.ExecContext(context.Background(), "PRAGMA max_page_count = 1000000"); err != nil {
		t.Fatal(err)
	}
}

// Version returns the version of the file.
func (l *Log) Version() int { return l.version }

// NewestVersion returns the version of new files.
func NewestVersion() int { return version }

// Plans returns SQLite's query plans of the readers' queries.
func Plans(t *testing.T, l *Log) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	for query, args := range map[string][]any{
		selectPage:               {"s", 0, 10},
		selectSnapshot:           {"s", "k", 10},
		selectSession:            {"s"},
		selectSessions + inOrder: {},
	} {
		lines, err := queryPlan(l, query, args)
		if err != nil {
			t.Fatal(err)
		}
		out[query] = lines
	}
	return out
}

func queryPlan(l *Log, query string, args []any) (lines []string, err error) {
	rows, err := l.readers.QueryContext(context.Background(), "EXPLAIN QUERY PLAN "+query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // rows.Err reports the error
	for rows.Next() {
		var id, parent, unused int
		var detail string
		if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
			return nil, err
		}
		lines = append(lines, detail)
	}
	return lines, rows.Err()
}

// Waiting returns how many requests wait for the next commit.
func (l *Log) Waiting() int {
	l.writer.queue.mu.Lock()
	defer l.writer.queue.mu.Unlock()
	return len(l.writer.queue.waiting)
}

// Committing reports whether a commit is running or about to.
func (l *Log) Committing() bool {
	l.writer.queue.mu.Lock()
	defer l.writer.queue.mu.Unlock()
	return l.writer.queue.committing
}
