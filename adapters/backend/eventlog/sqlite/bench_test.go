package sqlite_test

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/turnspec/turnspec/adapters/backend/eventlog"
	"github.com/turnspec/turnspec/adapters/backend/eventlog/sqlite"
	"github.com/turnspec/turnspec/adapters/event"
)

// rawSQLite is the control of the benchmarks. It inserts the same bytes into a
// table of the same form and with the log's settings: one prepared statement for
// each row, and as many rows in a transaction.
type rawSQLite struct {
	db   *sql.DB
	stmt *sql.Stmt
}

func newRawSQLite(b *testing.B, sync string) rawSQLite {
	b.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(b.TempDir(), "control.db")+"?_pragma=journal_mode(wal)&_pragma=synchronous("+sync+")&_pragma=journal_size_limit(16777216)")
	if err != nil {
		b.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	b.Cleanup(func() { _ = db.Close() })
	if _, err := db.Exec("CREATE TABLE events (session INTEGER NOT NULL, seq INTEGER NOT NULL, event TEXT NOT NULL, PRIMARY KEY (session, seq)) WITHOUT ROWID"); err != nil {
		b.Fatal(err)
	}
	stmt, err := db.Prepare("INSERT INTO events (session, seq, event) VALUES (?, ?, ?)")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = stmt.Close() })
	return rawSQLite{db, stmt}
}

func (c rawSQLite) insertLines(from int64, lines []string) error {
	tx, err := c.db.Begin()
	if err != nil {
		return err
	}
	stmt := tx.Stmt(c.stmt) //nolint:sqlclosecheck // the transaction closes it
	for i, line := range lines {
		if _, err := stmt.Exec(1, from+int64(i), line); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// BenchmarkAppend alternates between the log and the control and reports the ratio
// of their median durations.
func BenchmarkAppend(b *testing.B) {
	for _, sync := range []string{"FULL", "NORMAL"} {
		for _, batch := range []int64{1, 64, 1024} {
			b.Run(fmt.Sprintf("%s/%d", sync, batch), func(b *testing.B) {
				log, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "log.db"), sqlite.Options{Relaxed: sync == "NORMAL"})
				if err != nil {
					b.Fatal(err)
				}
				defer func() { _ = log.Close() }()
				c := newRawSQLite(b, sync)
				var ours, raw []float64
				seq := int64(1)
				for b.Loop() {
					events := deltas("s", seq, seq+batch-1)
					lines := make([]string, batch)
					for i, e := range events {
						line, err := e.AppendJSON(nil)
						if err != nil {
							b.Fatal(err)
						}
						lines[i] = string(line)
					}
					began := time.Now()
					if err := log.Append(context.Background(), events...); err != nil {
						b.Fatal(err)
					}
					half := time.Now()
					if err := c.insertLines(seq, lines); err != nil {
						b.Fatal(err)
					}
					ours, raw = append(ours, half.Sub(began).Seconds()), append(raw, time.Since(half).Seconds())
					seq += batch
				}
				a, z := median(ours), median(raw)
				b.ReportMetric(float64(batch)/a, "events/s")
				b.ReportMetric(float64(batch)/z, "control/s")
				b.ReportMetric(z/a, "of-control")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

func median(v []float64) float64 {
	slices.Sort(v)
	return v[len(v)/2]
}

// BenchmarkRecorder measures the delay that a Recorder adds before the listener
// receives a delta, compared with a goroutine that only forwards.
func BenchmarkRecorder(b *testing.B) {
	log, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "log.db"), sqlite.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = log.Close() }()
	plain, in := make(chan event.Event), make(chan event.Event)
	done := make(chan struct{})
	defer close(done)
	relayed := make(chan event.Event)
	go func() { // the control: a goroutine without a log
		for e := range plain {
			relayed <- e
		}
	}()
	defer close(plain)
	recorder := eventlog.Record(log, in, eventlog.RecorderOptions{})
	var with, without []float64
	seq := int64(1)
	for b.Loop() {
		e := delta("s", seq)
		began := time.Now()
		plain <- e
		<-relayed
		half := time.Now()
		in <- e
		<-recorder.Events()
		without, with = append(without, half.Sub(began).Seconds()*1e9), append(with, time.Since(half).Seconds()*1e9)
		seq++
	}
	close(in)
	for range recorder.Events() {
	}
	if err := recorder.Err(); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(median(with), "recorded-ns")
	b.ReportMetric(median(without), "relayed-ns")
	b.ReportMetric(0, "ns/op")
}
