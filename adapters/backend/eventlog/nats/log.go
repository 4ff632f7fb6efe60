package nats

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/turnspec/turnspec/adapters/backend/eventlog"
	"github.com/turnspec/turnspec/adapters/backend/eventlog/internal/notify"
)

// Options configure a log. The zero value is ready for use.
type Options struct {
	// Name begins the names of the streams and their subjects: "turnspec" if empty.
	Name string
	// Replicas is the number of servers that hold each event, if Open creates the
	// streams: 1 if zero.
	Replicas int
	// Busy is how long a method tries again while the server is away: 5s if zero.
	Busy time.Duration
	// Connect holds further options of the connection, such as credentials.
	Connect []nats.Option
}

// Log is an eventlog.Log in NATS JetStream.
type Log struct {
	name    string // where it is, without the password
	options Options

	conn      *nats.Conn
	js        jetstream.JetStream
	events    jetstream.Stream
	snapshots jetstream.Stream
	media     jetstream.Stream
	leases    jetstream.Stream

	changes  notify.Notifier
	watching watched
	writers  [64]writer // by hash of the session
	places   places

	base    context.Context // ends with Close
	cancel  context.CancelFunc
	mu      sync.Mutex // guards closed and calls.Add
	closed  bool
	calls   sync.WaitGroup // methods that run
	closing sync.Once
}

var _ eventlog.Log = (*Log)(nil)

// requestTimeout limits one request, in case the server ends before it answers.
const requestTimeout = 2 * time.Second

// Open connects to a server, such as nats://user:password@host:4222, or to several,
// separated by commas, and creates the streams if there are none.
func Open(ctx context.Context, servers string, o Options) (*Log, error) {
	o.Name = cmp.Or(o.Name, "turnspec")
	o.Replicas = cmp.Or(o.Replicas, 1)
	o.Busy = cmp.Or(o.Busy, 5*time.Second)
	l := &Log{name: "nats " + redacted(servers) + " " + o.Name, options: o}
	l.base, l.cancel = context.WithCancel(context.Background())
	err := l.retry(ctx, func(context.Context) (err error) {
		l.conn, err = nats.Connect(servers, append([]nats.Option{
			nats.Name("turnspec"), nats.MaxReconnects(-1), nats.ReconnectWait(100 * time.Millisecond), nats.ReconnectJitter(50*time.Millisecond, 50*time.Millisecond),
			nats.ReconnectBufSize(-1), // an append fails at once instead of being sent later
			nats.ReconnectHandler(func(*nats.Conn) { l.changes.NotifyAll() }),
		}, o.Connect...)...)
		return err
	})
	if err == nil {
		err = l.openStreams(ctx)
	}
	if err != nil {
		_ = l.Close()
		return nil, l.explainError("open", err)
	}
	return l, nil
}

// redacted returns the addresses of servers without passwords.
func redacted(servers string) string {
	u, err := url.Parse(servers)
	if err != nil {
		return "of several servers"
	}
	return u.Redacted()
}

func (l *Log) openStreams(ctx context.Context) (err error) {
	if l.js, err = jetstream.New(l.conn); err != nil {
		return err
	}
	for _, s := range []struct {
		to     *jetstream.Stream
		config jetstream.StreamConfig
	}{
		{&l.events, jetstream.StreamConfig{
			Name: l.options.Name + "_events", Subjects: []string{l.eventSubject("*")},
			// Followers are woken by what is stored, not by what is sent.
			RePublish: &jetstream.RePublish{Source: l.eventSubject("*"), Destination: l.options.Name + ".stored.{{wildcard(1)}}", HeadersOnly: true},
		}},
		{&l.snapshots, jetstream.StreamConfig{
			Name: l.options.Name + "_snapshots", Subjects: []string{l.options.Name + ".snapshots.>"}, MaxMsgsPerSubject: 1,
		}},
		{&l.media, jetstream.StreamConfig{
			Name: l.options.Name + "_media", Subjects: []string{l.options.Name + ".media.>"}, MaxMsgsPerSubject: 1,
		}},
		{&l.leases, jetstream.StreamConfig{
			Name: l.options.Name + "_leases", Subjects: []string{l.options.Name + ".leases.>"}, MaxMsgsPerSubject: 1, AllowMsgTTL: true,
		}},
	} {
		s.config.Replicas = l.options.Replicas
		s.config.AllowDirect = s.to != &l.leases // of which all must see the last
		s.config.Storage, s.config.Retention = jetstream.FileStorage, jetstream.LimitsPolicy
		err := l.retry(ctx, func(ctx context.Context) (err error) {
			if *s.to, err = l.js.Stream(ctx, s.config.Name); errors.Is(err, jetstream.ErrStreamNotFound) {
				*s.to, err = l.js.CreateStream(ctx, s.config)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (l *Log) eventSubject(token string) string  { return l.options.Name + ".events." + token }
func (l *Log) storedSubject(token string) string { return l.options.Name + ".stored." + token }

// begin is called first by each method, which calls end when it returns. The context
// ends with the log too.
func (l *Log) begin(ctx context.Context) (_ context.Context, end func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, nil, eventlog.ErrClosed
	}
	l.calls.Add(1)
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(l.base, cancel)
	return ctx, func() {
		stop()
		cancel()
		l.calls.Done()
	}, nil
}

// retry calls try until it succeeds, fails for good, or Options.Busy is over. Each try
// has requestTimeout.
func (l *Log) retry(ctx context.Context, try func(context.Context) error) error {
	began := time.Now()
	for pause := 5 * time.Millisecond; ; pause = min(2*pause, 250*time.Millisecond) {
		limited, cancel := context.WithTimeout(ctx, requestTimeout)
		err := try(limited)
		cancel()
		if err == nil || !isTransient(err) || time.Since(began)+pause > l.options.Busy {
			return err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return err
		}
	}
}

// Close implements eventlog.Log.
func (l *Log) Close() error {
	l.closing.Do(func() {
		l.mu.Lock()
		l.closed = true
		l.mu.Unlock()
		l.calls.Wait()
		l.cancel()
		l.changes.Close()
		if l.conn != nil {
			l.conn.Close()
		}
	})
	return nil
}

// methodError returns the error of a method: ErrClosed or the context's error if that
// is the cause, or else err with an explanation.
func (l *Log) methodError(ctx context.Context, op string, err error) error {
	switch {
	case err == nil:
		return nil
	case l.base.Err() != nil:
		return eventlog.ErrClosed
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return l.explainError(op, err)
}

// String returns where the log is, without passwords.
func (l *Log) String() string { return l.name }

var _ fmt.Stringer = (*Log)(nil)
