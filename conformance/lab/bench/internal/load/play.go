package load

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/fakes/standin"
	"github.com/turnspec/turnspec/fixtures"
)

// Clock is the clock of a play: Now in nanoseconds, and a wait until a time. The
// zero Clock is that of the machine.
type Clock struct {
	Now   func() int64
	Until func(int64)
}

func (c Clock) orMachine() Clock {
	if c.Now == nil {
		return Clock{Now, sleepUntil}
	}
	return c
}

// Timers returns the machine's clock with waits that block no thread, for programs
// that serve many sessions. They are late by up to a millisecond.
func Timers() Clock {
	return Clock{Now, func(due int64) { time.Sleep(time.Duration(due - Now())) }}
}

// play is one session that is being played.
type play struct {
	*Script
	clock Clock
	out   io.Writer

	mu     sync.Mutex
	change sync.Cond
	queue  [][]byte // lines of the stand-in that are not written yet
	busy   bool     // a line is being written
	over   bool     // no line is added any more
	err    error    // of a write: the client is gone

	// Of the writing goroutine:
	quoted []byte // the first delta's text as JSON, without its last quote; set once it was stretched
	whole  []byte // the text that was written in its place
}

// Serve plays a session as a program with these arguments would. It returns when the
// recording ends, the input is closed, or ctx is done. Each line is written at once,
// unless the plan has no rate.
func (s *Script) Serve(ctx context.Context, clock Clock, argv []string, in io.Reader, out io.Writer) (proc.Exit, error) {
	p := &play{Script: s, clock: clock.orMachine(), out: out}
	p.change.L = &p.mu
	st, err := s.made.New(standin.Options{ReadReplies: s.life, Manual: true, KeepIDs: true, Chunk: p.queueLine})
	if err != nil {
		return proc.Exit{Code: 2}, err
	}
	defer st.Close()
	c := proc.Command{Argv: argv}
	acts := clientLinesOf(s.c)
	if s.Plan.Alone {
		c = proc.Command{Argv: acts.argv, Env: []string{"HOME=/home/user", "CLAUDE_CODE_SDK_READS_SESSION_STATE=1"}, Dir: "/work"}
	}
	run, err := st.Launcher().Launch(ctx, c)
	if err != nil {
		return proc.Exit{Code: 2}, err
	}
	over := make(chan struct{})
	defer close(over)
	go func() {
		select {
		case <-ctx.Done():
			_ = run.Signal(proc.SIGTERM)
		case <-over:
		}
	}()
	ended := make(chan proc.Exit, 1)
	go func() {
		e := run.Wait()
		ended <- e
		st.Close() // stop waiting for lines
	}()
	go func() { _, _ = io.Copy(io.Discard, run.Stdout()) }()
	go func() { _, _ = io.Copy(io.Discard, run.Stderr()) }()
	if s.Plan.Alone {
		acts.do(run.Stdin(), acts.before)
	} else {
		go func() {
			_, _ = io.Copy(run.Stdin(), in)
			_ = run.Stdin().Close()
		}()
	}
	var writing sync.WaitGroup
	writing.Go(p.writeQueue)
	for {
		if s.Plan.Alone {
			p.playClient(&acts, in, run.Stdin(), st.State())
		}
		if !st.Ready() {
			break
		}
		st.Step()
		if p.waitWritten() != nil {
			_ = run.Signal(proc.SIGKILL) // the client is gone, as SIGPIPE would report
			break
		}
	}
	p.endQueue()
	writing.Wait()
	select {
	case e := <-ended:
		return e, nil
	case <-ctx.Done():
		return proc.Exit{Code: -1, Signal: proc.SIGTERM}, nil
	}
}

// queueLine queues a line of the stand-in. It is called with the stand-in's lock held,
// which a write to a slow client must not block, also not in the goroutine that
// reads the client.
func (p *play) queueLine(line []byte) [][]byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.queue = append(p.queue, bytes.Clone(line))
	p.change.Broadcast()
	return nil
}

// waitWritten waits until the queue is written.
func (p *play) waitWritten() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for (len(p.queue) > 0 || p.busy) && p.err == nil {
		p.change.Wait()
	}
	return p.err
}

// endQueue ends the queue.
func (p *play) endQueue() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over = true
	p.change.Broadcast()
}

// writeQueue writes the queue in order.
func (p *play) writeQueue() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.err == nil {
		if len(p.queue) == 0 {
			if p.over {
				return
			}
			p.change.Wait()
			continue
		}
		line := p.queue[0]
		p.queue, p.busy = p.queue[1:], true
		p.mu.Unlock()
		err := p.writeLine(line)
		p.mu.Lock()
		p.busy, p.err = false, err
		p.change.Broadcast()
	}
}

// writeLine writes a line, or what replaces it.
func (p *play) writeLine(line []byte) error {
	if p.quoted == nil {
		if text := standin.TextDelta(p.c.Runtime, line); text != "" {
			return p.stretch(line, text)
		}
	} else if bytes.Contains(line, p.quoted) && standin.TextDelta(p.c.Runtime, line) == "" {
		line = bytes.ReplaceAll(line, p.quoted, p.whole)
	}
	_, err := p.out.Write(line)
	return err
}

// batch is how many bytes are written at once in a plan without a rate.
const batch = 32 << 10

// stretch writes a delta many times.
func (p *play) stretch(line []byte, text string) error {
	body, _ := jsontext.AppendQuote(nil, text)
	p.quoted = body[:len(body)-1]
	body = body[1 : len(body)-1]
	at := bytes.LastIndex(line, body)
	head, tail := line[:at], line[at+len(body):]
	pad := strings.Repeat("x", p.Plan.Pad)
	p.whole = append(p.whole, '"')
	var buf []byte
	start := p.clock.Now()
	for i := range p.Plan.Deltas {
		s := Stamp{Index: i, Due: start}
		if p.Plan.Rate > 0 {
			s.Due += int64(float64(i) / p.Plan.Rate * float64(time.Second))
			if s.Due > p.clock.Now() {
				p.clock.Until(s.Due)
			}
			s.Sent = p.clock.Now()
		} else if s.Due = start; len(buf) == 0 || i%16 == 0 {
			start = p.clock.Now()
			s.Due, s.Sent = start, start
		}
		buf = append(buf, head...)
		from := len(buf)
		buf = append(s.Append(buf), pad...)
		p.whole = append(p.whole, buf[from:]...)
		buf = append(buf, tail...)
		if p.Plan.Rate > 0 || len(buf) >= batch || i == p.Plan.Deltas-1 {
			if _, err := p.out.Write(buf); err != nil {
				return err
			}
			buf = buf[:0]
		}
	}
	return nil
}

// clientLines are the recorded client's lines, for a play without a client. Early lines are
// queued in the stand-in.
type clientLines struct {
	argv          []string
	before, after [][]byte // the first message
	wroteReady    bool     // Ready was written
}

func clientLinesOf(c *fixtures.Case) clientLines {
	var a clientLines
	send := false
	for i := range c.Wire {
		w := &c.Wire[i]
		if w.Process != 1 {
			break
		}
		switch w.Dir {
		case fixtures.Spawn:
			a.argv = w.Argv
		case fixtures.In:
			send = send || standin.IsMessage(c.Runtime, w.Bytes)
			line := append(bytes.Clone(w.Bytes), '\n')
			if send {
				a.after = append(a.after, line)
			} else {
				a.before = append(a.before, line)
			}
		}
	}
	return a
}

func (a *clientLines) do(to io.Writer, lines [][]byte) {
	for _, l := range lines {
		_, _ = to.Write(l)
	}
}

// playClient writes the recorded client's lines for the current state of the play.
func (p *play) playClient(a *clientLines, in io.Reader, to io.WriteCloser, st standin.State) {
	switch {
	case st.Barrier == nil:
	case st.Barrier.Kind == standin.KindSend && !a.wroteReady:
		a.wroteReady = true
		p.queueLine([]byte(Ready + "\n"))
		go func() {
			_, _ = bufio.NewReader(in).ReadSlice('\n')
			a.do(to, a.after)
		}()
	case st.Barrier.Kind == standin.KindClose:
		_ = to.Close()
	}
}
