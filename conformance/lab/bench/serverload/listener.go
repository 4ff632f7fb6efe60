package serverload

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// crowd is all listeners of a phase.
type crowd struct {
	address string
	want    int64 // the seq of the last event that each receives

	mu        sync.Mutex
	delays    *hdrhistogram.Histogram
	delivered int64
	doubled   int64
	lost      int64
	problem   error // the first

	connected sync.WaitGroup // listeners whose stream is not open yet
	ended     sync.WaitGroup // listeners that wait for events
	gone      sync.WaitGroup // listeners that are connected
}

// recordFailure records why a listener ended early.
func (c *crowd) recordFailure(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.problem == nil {
		c.problem = err
	}
}

// err returns the first reason why a listener ended early.
func (c *crowd) err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.problem
}

// listen starts a listener. It stays connected until ctx is done, because leaving takes
// time from those that still wait.
func (c *crowd) listen(ctx context.Context, path string) {
	c.connected.Add(1)
	c.ended.Add(1)
	c.gone.Go(func() {
		l := &listener{crowd: c, delays: make([]time.Duration, 0, c.want)}
		connected := sync.OnceFunc(c.connected.Done)
		ended := sync.OnceFunc(func() {
			c.add(l)
			c.ended.Done()
		})
		err := l.read(ctx, path, connected, ended)
		connected()
		if err != nil && ctx.Err() == nil {
			c.recordFailure(fmt.Errorf("%s: %w", path, err))
		}
		ended()
	})
}

// add counts what a listener has received.
func (c *crowd) add(l *listener) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.delivered += l.received
	c.doubled += l.doubled
	c.lost += c.want - l.received
	for _, d := range l.delays {
		_ = c.delays.RecordValue(max(1, min(d.Microseconds(), c.delays.HighestTrackableValue()))) // within its bounds
	}
}

// listener reads one stream.
type listener struct {
	*crowd
	last              int64 // seq
	received, doubled int64
	delays            []time.Duration
}

// open sends the request of a stream. The standard client would need two goroutines and
// more memory for each.
func (c *crowd) open(ctx context.Context, path string) (net.Conn, *http.Response, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", c.address)
	if err != nil {
		return nil, nil, err
	}
	if _, err := fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: %s\r\nAccept: text/event-stream\r\n\r\n", path, c.address); err != nil {
		return nil, nil, err
	}
	response, err := http.ReadResponse(bufio.NewReaderSize(conn, 2048), nil)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("it was answered with %s", response.Status)
	}
	return conn, response, err
}

func (l *listener) read(ctx context.Context, path string, connected, ended func()) error {
	conn, response, err := l.open(ctx, path)
	if response != nil {
		defer func() { _ = response.Body.Close() }() // after the connection, because it reads to the end
	}
	if conn != nil {
		defer func() { _ = conn.Close() }()
	}
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(make([]byte, 0, 1024), 1<<20)
	for lines.Scan() {
		now, line := time.Now(), lines.Bytes()
		id, is := bytes.CutPrefix(line, []byte("id: "))
		switch {
		case is:
			seq, err := strconv.ParseInt(string(id), 10, 64)
			if err != nil {
				return err
			}
			if seq <= l.last {
				l.doubled++
			} else {
				l.received++
				l.last = seq
			}
		case bytes.HasPrefix(line, []byte("data: ")):
			if due, ok := dueOf(line); ok {
				l.delays = append(l.delays, now.Sub(due))
			}
			if l.last >= l.want {
				ended()
			}
		case bytes.HasPrefix(line, []byte(":")):
			connected()
		}
	}
	if l.last >= l.want {
		return nil
	}
	return fmt.Errorf("the stream ended after event %d of %d", l.last, l.want)
}

// dueOf reads when the delta of a line was due.
func dueOf(line []byte) (time.Time, bool) {
	_, rest, is := bytes.Cut(line, []byte(`"text":"`))
	if !is {
		return time.Time{}, false
	}
	text, _, _ := bytes.Cut(rest, []byte(`"`))
	return dueTime(string(text))
}
