package capture

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/fixtures"
)

// Stdio is where the client of a live runtime is.
type Stdio struct {
	In       io.Reader
	Out, Err io.Writer
	Signals  <-chan os.Signal
}

// tee keeps the lines that pass, in the order in which they did.
type tee struct {
	mu    sync.Mutex
	start time.Time
	wire  []fixtures.WireLine
}

func (t *tee) add(l fixtures.WireLine) {
	t.mu.Lock()
	defer t.mu.Unlock()
	l.T, l.Process = time.Since(t.start).Round(time.Millisecond), 1
	t.wire = append(t.wire, l)
}

// lines passes bytes on as they come, and keeps each line.
func (t *tee) lines(dir fixtures.Dir, from io.Reader, to io.Writer) {
	var part []byte
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		part = append(part, buf[:n]...)
		for {
			line, rest, ok := bytes.Cut(part, []byte("\n"))
			if !ok {
				break
			}
			if line = bytes.TrimSuffix(line, []byte("\r")); len(line) > 0 {
				t.add(fixtures.WireLine{Dir: dir, Bytes: bytes.Clone(line)})
			}
			part = rest
		}
		if n > 0 {
			_, _ = to.Write(buf[:n]) // a client that is gone hears nothing; the runtime's end follows
		}
		if err != nil {
			break
		}
	}
	if len(part) > 0 {
		t.add(fixtures.WireLine{Dir: dir, Bytes: part})
	}
}

// Live runs a program between a client and its stdio, passes all bytes on and
// keeps the lines, in memory alone.
func Live(ctx context.Context, argv []string, io Stdio) ([]fixtures.WireLine, proc.Exit, error) {
	p, err := proc.Exec{}.Launch(ctx, proc.Command{Argv: argv, Env: os.Environ()})
	if err != nil {
		return nil, proc.Exit{}, fmt.Errorf("start %s: %w", argv[0], err)
	}
	t := &tee{start: time.Now()}
	t.add(fixtures.WireLine{Dir: fixtures.Spawn, Argv: append([]string{filepath.Base(argv[0])}, argv[1:]...)})
	// The copy of stdin ends with stdin or with the program: nothing can wake a
	// read of a terminal.
	go func() {
		t.lines(fixtures.In, io.In, p.Stdin())
		t.add(fixtures.WireLine{Dir: fixtures.EOF})
		_ = p.Stdin().Close()
	}()
	over := make(chan struct{})
	go func() {
		for {
			select {
			case <-io.Signals:
				_ = p.Signal(proc.SIGTERM)
			case <-over:
				return
			}
		}
	}()
	var read sync.WaitGroup
	read.Go(func() { t.lines(fixtures.Out, p.Stdout(), io.Out) })
	read.Go(func() { t.lines(fixtures.Err, p.Stderr(), io.Err) })
	exit := p.Wait()
	read.Wait()
	close(over)
	t.add(fixtures.WireLine{Dir: fixtures.Exit, Code: exit.Code, Signal: string(exit.Signal)})
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.wire, exit, nil
}
