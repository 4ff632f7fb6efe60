package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/turnspec/turnspec/conformance/report"
)

func isTerminal(w any) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// styleOf returns a style with colors if w is a terminal and NO_COLOR is not set.
func styleOf(w io.Writer) report.Style {
	return report.Style{Color: isTerminal(w) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"}
}

// heartbeatTime is how often a run reports its progress if the output is no terminal.
const heartbeatTime = 9 * time.Second

// heartbeat writes what a run does, at intervals.
type heartbeat struct {
	out   io.Writer
	began time.Time
	ended chan struct{}
	gone  sync.WaitGroup

	mu    sync.Mutex // guards out and doing
	doing string
}

// newHeartbeat begins a heartbeat. Its Write writes to out.
func newHeartbeat(out io.Writer, every time.Duration, doing string) *heartbeat {
	h := &heartbeat{out: out, began: time.Now(), ended: make(chan struct{}), doing: doing}
	h.gone.Go(func() {
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-h.ended:
				return
			case <-tick.C:
				h.mu.Lock()
				fmt.Fprintf(out, "after %v: %s\n", time.Since(h.began).Round(time.Second), h.doing)
				h.mu.Unlock()
			}
		}
	})
	return h
}

// Write implements io.Writer.
func (h *heartbeat) Write(b []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.out.Write(b)
}

// set sets what the next beat reports.
func (h *heartbeat) set(doing string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.doing = doing
}

// step has the form of conformance.Config.Progress.
func (h *heartbeat) step(done, total int, id string) {
	h.set(fmt.Sprintf("%d of %d cases, the last %s", done, total, id))
}

func (h *heartbeat) stop() {
	close(h.ended)
	h.gone.Wait()
}

// progress shows a progress line on a terminal; wipe removes it. step is nil if w
// is not a terminal.
func progress(w io.Writer) (step func(done, total int, id string), wipe func()) {
	if !isTerminal(w) || os.Getenv("TERM") == "dumb" {
		return nil, func() {}
	}
	var bar *progressbar.ProgressBar
	step = func(done, total int, id string) {
		if bar == nil || total != bar.GetMax() {
			bar = progressbar.NewOptions(total, progressbar.OptionSetWriter(w), progressbar.OptionShowCount(),
				progressbar.OptionSetWidth(20), progressbar.OptionClearOnFinish(), progressbar.OptionSetPredictTime(false))
		}
		bar.Describe(id)
		_ = bar.Set(done) // a closed terminal needs no progress
	}
	wipe = func() {
		if bar != nil {
			_ = bar.Clear()
		}
	}
	return step, wipe
}
