package serverload

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
)

// Times of a run.
const (
	connectTime = 30 * time.Millisecond  // for each hundred listeners, before deltas begin
	restTime    = 500 * time.Millisecond // after all are connected
	drainLimit  = time.Minute            // for the last events after the last delta was due
)

// eventsBesides is how many events of a session are no deltas: session_ready, turn_start,
// user_message, block_end and done.
const eventsBesides = 5

// Run measures a server. It calls progress before each of total steps.
func Run(ctx context.Context, c Config, progress func(done, total int, what string)) (*Result, error) {
	r := &Result{Sessions: c.Sessions, Listeners: c.Listeners, Rate: c.Rate, Deltas: c.Deltas(), Log: c.Log}
	s, err := start(ctx, c)
	if err != nil {
		return nil, err
	}
	defer s.stop()
	names := []string{"plain", "sidecar"}
	for i, name := range names {
		progress(i, len(names)+1, fmt.Sprintf("%s: %d sessions, %d listeners each, %v", name, c.Sessions, c.Listeners, c.For))
		p, err := s.phase(ctx, name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		r.Phases = append(r.Phases, p)
	}
	if c.Idle > 0 {
		progress(len(names), len(names)+1, fmt.Sprintf("%d idle listeners", c.Idle))
		if r.Idle, err = s.idle(ctx); err != nil {
			return nil, fmt.Errorf("idle listeners: %w", err)
		}
	}
	return r, nil
}

// server is the process of the server.
type server struct {
	c    Config
	cmd  *exec.Cmd
	in   io.Closer
	base string // its address
}

func start(ctx context.Context, c Config) (*server, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self)
	cmd.Env, cmd.Stderr = append(os.Environ(), envServer+"="+string(text)), os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return nil, errors.Join(errors.New("the server did not start"), cmd.Wait())
	}
	return &server{c: c, cmd: cmd, in: in, base: strings.TrimSpace(address)}, nil
}

// stop ends the server.
func (s *server) stop() {
	_ = s.in.Close()
	_ = s.cmd.Wait() // the result is known
}

// call sends a request, and reads the answer into out, which may be nil.
func (s *server) call(ctx context.Context, method, path, body string, out any) error {
	r, err := http.NewRequestWithContext(ctx, method, "http://"+s.base+path, strings.NewReader(body))
	if err != nil {
		return err
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	b, err := io.ReadAll(res.Body)
	_ = res.Body.Close()
	switch {
	case err != nil:
		return err
	case res.StatusCode >= 300:
		return fmt.Errorf("%s %s: %s %s", method, path, res.Status, bytes.TrimSpace(b))
	case out == nil:
		return nil
	}
	return json.Unmarshal(b, out)
}

// phase measures one way to deliver the events of all sessions.
func (s *server) phase(ctx context.Context, name string) (Phase, error) {
	p := Phase{Name: name}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	id := func(n int) string { return name + strconv.Itoa(n) }
	begin, listenAt := "/bench/plain/%s", "/bench/plain/%s/events"
	if name == "sidecar" {
		begin, listenAt = "/sessions/%s/message", "/sessions/%s/events?after=0"
		for n := range s.c.Sessions {
			if err := s.call(ctx, http.MethodPost, "/sessions", fmt.Sprintf(`{"session_id":%q}`, id(n)), nil); err != nil {
				return p, err
			}
		}
	}
	crowd := &crowd{address: s.base, want: int64(s.c.Deltas() + eventsBesides), delays: newHistogram()}
	for n := range s.c.Sessions * s.c.Listeners {
		crowd.listen(ctx, fmt.Sprintf(listenAt, id(n/s.c.Listeners)))
		if n%100 == 99 {
			time.Sleep(connectTime) // the queue of new connections is short
		}
	}
	crowd.connected.Wait()
	time.Sleep(restTime)
	var before, after usage
	if err := errors.Join(s.call(ctx, http.MethodGet, "/bench/delays", "", nil), s.call(ctx, http.MethodGet, "/bench/usage", "", &before)); err != nil {
		return p, err
	}
	interval := time.Duration(float64(time.Second) / s.c.Rate)
	startAt := time.Now().Add(2*time.Second + time.Duration(s.c.Sessions)*time.Millisecond)
	for n := range s.c.Sessions {
		t := turn{n: s.c.Deltas(), interval: interval, start: startAt.Add(interval * time.Duration(n) / time.Duration(s.c.Sessions))}
		body := t.text()
		if name == "sidecar" {
			body = fmt.Sprintf(`{"message":%q,"message_id":"m"}`, body)
		}
		if err := s.call(ctx, http.MethodPost, fmt.Sprintf(begin, id(n)), body, nil); err != nil {
			return p, err
		}
	}
	if late := time.Since(startAt); late > 0 {
		return p, fmt.Errorf("to begin %d turns took %v longer than planned", s.c.Sessions, late)
	}
	overdue := time.AfterFunc(time.Until(startAt)+s.c.For+drainLimit, cancel)
	crowd.ended.Wait()
	overdue.Stop()
	p.Took = time.Since(startAt).Seconds()
	defer func() {
		cancel()
		crowd.gone.Wait()
	}()
	if err := crowd.err(); err != nil {
		return p, err
	}
	err := errors.Join(s.call(context.WithoutCancel(ctx), http.MethodGet, "/bench/usage", "", &after), s.call(context.WithoutCancel(ctx), http.MethodGet, "/bench/delays", "", &p.InProcess))
	p.HTTP, p.Delivered, p.Lost, p.Doubled, p.CPU = delaysOf(crowd.delays), crowd.delivered, crowd.lost, crowd.doubled, after.CPU-before.CPU
	return p, err
}

// idleSessions is how many sessions idle listeners share.
const idleSessions = 10

// idle connects listeners to sessions in which nothing happens.
func (s *server) idle(ctx context.Context) (*Idle, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for n := range idleSessions {
		if err := s.call(ctx, http.MethodPost, "/sessions", fmt.Sprintf(`{"session_id":"idle%d"}`, n), nil); err != nil {
			return nil, err
		}
	}
	var before, after usage
	if err := s.call(ctx, http.MethodGet, "/bench/usage", "", &before); err != nil {
		return nil, err
	}
	crowd := &crowd{address: s.base, want: 2, delays: newHistogram()}
	for n := range s.c.Idle {
		crowd.listen(ctx, fmt.Sprintf("/sessions/idle%d/events?after=0", n%idleSessions))
		if n%100 == 99 {
			time.Sleep(connectTime)
		}
	}
	crowd.connected.Wait()
	time.Sleep(restTime)
	if err := s.call(ctx, http.MethodGet, "/bench/usage", "", &after); err != nil {
		return nil, err
	}
	cancel()
	crowd.gone.Wait()
	if err := crowd.err(); err != nil {
		return nil, err
	}
	return &Idle{Listeners: s.c.Idle, PerListener: (after.InUse - before.InUse) / float64(s.c.Idle), Resident: after.Resident}, nil
}
