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

// Stdio connects Live to the client of the runtime.
type Stdio struct {
	In       io.Reader
	Out, Err io.Writer
	Signals  <-chan os.Signal
}

// lineLog keeps lines in the order in which they passed.
type lineLog struct {
	mu    sync.Mutex
	start time.Time
	wire  []fixtures.WireLine
}

func (t *lineLog) addLine(l fixtures.WireLine) {
	t.mu.Lock()
	defer t.mu.Unlock()
	l.T, l.Process = time.Since(t.start).Round(time.Millisecond), 1
	t.wire = append(t.wire, l)
}

// copyLines copies bytes at once, and keeps each line.
func (t *lineLog) copyLines(dir fixtures.Dir, from io.Reader, to io.Writer) {
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
				t.addLine(fixtures.WireLine{Dir: dir, Bytes: bytes.Clone(line)})
			}
			part = rest
		}
		if n > 0 {
			_, _ = to.Write(buf[:n]) // if the client is gone, the runtime will exit
		}
		if err != nil {
			break
		}
	}
	if len(part) > 0 {
		t.addLine(fixtures.WireLine{Dir: dir, Bytes: part})
	}
}

// Live runs a program, copies its stdio to and from a client, and returns the lines.
// It writes no file.
func Live(ctx context.Context, argv []string, io Stdio) ([]fixtures.WireLine, proc.Exit, error) {
	p, err := proc.Exec{}.Launch(ctx, proc.Command{Argv: argv, Env: os.Environ()})
	if err != nil {
		return nil, proc.Exit{}, fmt.Errorf("start %s: %w", argv[0], err)
	}
	t := &lineLog{start: time.Now()}
	t.addLine(fixtures.WireLine{Dir: fixtures.Spawn, Argv: append([]string{filepath.Base(argv[0])}, argv[1:]...)})
	// This goroutine ends with stdin or with the program, because a read of a
	// terminal cannot be interrupted.
	go func() {
		t.copyLines(fixtures.In, io.In, p.Stdin())
		t.addLine(fixtures.WireLine{Dir: fixtures.EOF})
		_ = p.Stdin().Close()
	}()
	exited := make(chan struct{})
	go func() {
		for {
			select {
			case <-io.Signals:
				_ = p.Signal(proc.SIGTERM)
			case <-exited:
				return
			}
		}
	}()
	var readers sync.WaitGroup
	readers.Go(func() { t.copyLines(fixtures.Out, p.Stdout(), io.Out) })
	readers.Go(func() { t.copyLines(fixtures.Err, p.Stderr(), io.Err) })
	exit := p.Wait()
	readers.Wait()
	close(exited)
	t.addLine(fixtures.WireLine{Dir: fixtures.Exit, Code: exit.Code, Signal: string(exit.Signal)})
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.wire, exit, nil
}
