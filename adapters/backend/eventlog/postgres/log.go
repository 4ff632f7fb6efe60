package postgres

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/turnspec/turnspec/adapters/backend/eventlog"
	"github.com/turnspec/turnspec/adapters/backend/eventlog/internal/notify"
)

// Options configure a log. The zero value is ready for use.
type Options struct {
	// Busy is how long a method tries again while the server is away, and how long an
	// append waits for another program: 5s if zero.
	Busy time.Duration
	// Readers is the number of connections for reading: 4 if zero. A log opens as many
	// as it uses at once, one for writing, and one if there are followers.
	Readers int
}

// Log is an eventlog.Log in a PostgreSQL database.
type Log struct {
	name    string // host and database, without the password
	options Options
	config  *pgconn.Config

	readers chan *pgconn.PgConn // nil for one that is not open
	writer  *writer

	changes notify.Notifier // by hashOf
	watch   sync.Once

	base    context.Context // ends with Close
	cancel  context.CancelFunc
	closing chan struct{}
	closed  sync.Once
	running sync.WaitGroup // goroutines
}

var _ eventlog.Log = (*Log)(nil)

// Open connects to a database, given by a URL (postgres://user@host/name) or by
// keywords, and creates the tables if there are none. What is not given is taken from
// libpq's variables, such as PGPASSWORD. Tables are in the first schema of search_path.
func Open(ctx context.Context, database string, o Options) (*Log, error) {
	if o.Busy == 0 {
		o.Busy = 5 * time.Second
	}
	if o.Readers <= 0 {
		o.Readers = 4
	}
	config, err := pgconn.ParseConfig(database)
	if err != nil {
		return nil, err // without the password
	}
	l := &Log{
		name: "postgres " + net.JoinHostPort(config.Host, strconv.Itoa(int(config.Port))) + "/" + config.Database, options: o, config: config,
		readers: make(chan *pgconn.PgConn, o.Readers), closing: make(chan struct{}),
	}
	defaults := map[string]string{
		"application_name": "turnspec",
		"lock_timeout":     strconv.FormatInt(o.Busy.Milliseconds(), 10),
		// A program that stops within a transaction must not lock its sessions for ever.
		"idle_in_transaction_session_timeout": strconv.FormatInt((2 * o.Busy).Milliseconds(), 10),
	}
	for name, value := range defaults {
		if _, set := config.RuntimeParams[name]; !set {
			config.RuntimeParams[name] = value
		}
	}
	config.ConnectTimeout = min(max(config.ConnectTimeout, time.Second), 10*time.Second)
	l.base, l.cancel = context.WithCancel(context.Background())
	for range o.Readers {
		l.readers <- nil
	}
	if err := l.withReader(ctx, "open", l.migrate); err != nil {
		_ = l.closeReaders()
		l.cancel()
		return nil, err
	}
	l.writer = &writer{log: l, requests: make(chan *request)}
	l.running.Go(l.writer.commitRequests)
	return l, nil
}

// withReader calls f with a connection. It tries again if the connection breaks or the
// server is away, for Options.Busy.
func (l *Log) withReader(ctx context.Context, op string, f func(context.Context, *pgconn.PgConn) error) error {
	if err := l.checkOpen(ctx); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(l.base, cancel)()
	var c *pgconn.PgConn
	select {
	case c = <-l.readers:
	case <-ctx.Done():
		return l.methodError(ctx, op, ctx.Err())
	}
	defer func() { l.readers <- c }()
	err := l.retry(ctx, func() (err error) {
		if c, err = l.openConn(ctx, c, l.config); err != nil {
			return err
		}
		return f(ctx, c)
	})
	return l.methodError(ctx, op, err)
}

// openConn returns a connection that is open: c, or a new one.
func (l *Log) openConn(ctx context.Context, c *pgconn.PgConn, config *pgconn.Config) (*pgconn.PgConn, error) {
	if c != nil && !c.IsClosed() {
		return c, nil
	}
	return pgconn.ConnectConfig(ctx, config)
}

// retry calls try until it succeeds, fails for good, or Options.Busy is over.
func (l *Log) retry(ctx context.Context, try func() error) error {
	began := time.Now()
	for pause := 5 * time.Millisecond; ; pause = min(2*pause, 250*time.Millisecond) {
		err := try()
		if err == nil || !isTransient(err) || time.Since(began)+pause > l.options.Busy {
			return err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return err
		case <-l.closing:
			return err
		}
	}
}

// Close implements eventlog.Log. It commits the requests that the writer has received.
func (l *Log) Close() error {
	l.closed.Do(func() {
		l.watch.Do(func() {}) // no follower starts listening after this
		close(l.closing)
		l.cancel()
		l.changes.Close()
		l.running.Wait()
		_ = l.closeReaders() // nothing is lost if the server does not take the farewell
	})
	return nil
}

func (l *Log) closeReaders() error {
	var failed error
	for range cap(l.readers) {
		if c := <-l.readers; c != nil {
			failed = closeConn(c)
		}
		l.readers <- nil
	}
	return failed
}

// closeConn closes a connection, and waits until its goroutines have ended.
func closeConn(c *pgconn.PgConn) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	err := c.Close(ctx)
	<-c.CleanupDone()
	return err
}

func (l *Log) isClosed() bool {
	select {
	case <-l.closing:
		return true
	default:
		return false
	}
}

// methodError returns the error of a method: ErrClosed or the context's error if that
// is the cause, or else err with an explanation.
func (l *Log) methodError(ctx context.Context, op string, err error) error {
	switch {
	case err == nil:
		return nil
	case l.isClosed():
		return eventlog.ErrClosed
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return l.explainError(op, err)
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

// String returns where the log is, without the password.
func (l *Log) String() string { return l.name }

var _ fmt.Stringer = (*Log)(nil)
