package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	linereader "github.com/turnspec/turnspec/adapters/lines"
	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/conformance/lab/bench/internal/load"
)

// The controls measure what the machine allows.
const (
	Raw   = "raw"     // a reader of the pipe that does not interpret the bytes
	Lines = "lines"   // a reader that splits the bytes into lines
	Node  = "node"    // Node's readline and JSON.parse
	SDK   = "sdk"     // the official JavaScript client, if the runtime has one and it is installed
	DOM   = "dom"     // of the chat page: a page that appends the text of the events to one text node
	Chat  = "usechat" // of the chat page: useChat of the AI SDK, with React
	Spawn = "spawn"   // a child that does nothing, from its start to its end
)

// rawControl reads the bytes of a runtime's stdout, or its lines.
func rawControl(name string, lines bool) Contender {
	return Contender{
		Name: name, Control: true, alone: true, counts: true,
		perform: func(ctx context.Context, at place, st *start, w *watched) error {
			return performRaw(ctx, lines, at, st, w)
		},
	}
}

func performRaw(ctx context.Context, lines bool, at place, st *start, w *watched) (err error) {
	w.clicked = w.o.now()
	p, err := at.launch.Launch(ctx, proc.Command{Argv: []string{at.program}, Env: at.env, Dir: at.dir})
	if err != nil {
		st.ready()
		return err
	}
	stderr := proc.NewTail(1 << 10)
	var copied sync.WaitGroup
	copied.Go(func() { _, _ = io.Copy(stderr, p.Stderr()) })
	over := make(chan struct{})
	go func() { // kill a stand-in that hangs
		select {
		case <-ctx.Done():
			_ = p.Signal(proc.SIGKILL)
		case <-over:
		}
	}()
	defer func() {
		close(over)
		proc.End(p, proc.Grace{})
		if f, ok := p.Stdout().(io.Closer); ok {
			_ = f.Close()
		}
	}()
	var next func() ([]byte, error)
	if lines {
		next = linereader.NewReader(p.Stdout(), 0).Next
	} else {
		buf := make([]byte, 64<<10)
		next = func() ([]byte, error) {
			n, err := p.Stdout().Read(buf)
			return buf[:n], err
		}
	}
	ready := false
	defer func() {
		if !ready {
			st.ready()
		}
	}()
	for {
		b, err := next()
		if !ready && bytes.Contains(b, []byte(load.Ready)) {
			w.bound, ready = w.o.now(), true
			st.ready()
			if err := st.waitForAll(ctx); err != nil {
				return err
			}
			w.sent = w.o.now()
			if _, err := io.WriteString(p.Stdin(), "go\n"); err != nil {
				return err
			}
			w.accepted = w.o.now()
			continue
		}
		if w.sent != 0 && w.missingDeltas() > 0 { // the text follows again as a whole
			w.addText(b)
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if err != nil {
			break
		}
	}
	if w.missingDeltas() > 0 {
		copied.Wait()
		return fmt.Errorf("%d of %d deltas came\nstderr: %s", w.count, len(w.seen), stderr)
	}
	return nil
}
