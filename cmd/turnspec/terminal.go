package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

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

// withFaults ends the id that a run reports for a case that was tried with faults.
const withFaults = " with faults"

// heartbeatTime is how often a run reports its progress if the output is no terminal.
const heartbeatTime = 9 * time.Second

// heartbeat shows what a run does: on a terminal in a line of progress, elsewhere in a line
// at intervals.
type heartbeat struct {
	out   io.Writer
	line  *progressLine // nil: out is no terminal
	began time.Time
	ended chan struct{}
	gone  sync.WaitGroup
	again bool // all cases are tried, then all are again with faults

	mu     sync.Mutex // guards out, line and what follows
	doing  string
	silent bool
}

// newHeartbeat begins a heartbeat. Its Write writes to out.
func newHeartbeat(out io.Writer, doing string) *heartbeat {
	h := &heartbeat{out: out, line: newProgressLine(out), began: time.Now(), ended: make(chan struct{})}
	h.set(doing)
	if h.line != nil {
		return h
	}
	h.gone.Go(func() {
		tick := time.NewTicker(heartbeatTime)
		defer tick.Stop()
		for {
			select {
			case <-h.ended:
				return
			case <-tick.C:
				h.mu.Lock()
				if !h.silent {
					fmt.Fprintf(out, "after %v: %s\n", time.Since(h.began).Round(time.Second), h.doing)
				}
				h.mu.Unlock()
			}
		}
	})
	return h
}

// Write implements io.Writer: it writes above the line of progress.
func (h *heartbeat) Write(b []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.line.wipe()
	return h.out.Write(b)
}

// set sets what the run does.
func (h *heartbeat) set(doing string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.doing = doing
	h.line.draw(doing)
}

// step has the form of conformance.Config.Progress.
func (h *heartbeat) step(done, total int, id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.doing = fmt.Sprintf("%d of %d cases, the last %s", done, total, id)
	if h.again && done == total && !strings.HasSuffix(id, withFaults) {
		h.doing = fmt.Sprintf("%d of %d cases; they are tried again, with faults", done, total)
	}
	h.line.step(done, total, id)
}

// during shows nothing while f runs: a program that f starts shows its own progress.
func (h *heartbeat) during(f func() error) error {
	h.setSilent(true)
	defer h.setSilent(false)
	return f()
}

func (h *heartbeat) setSilent(silent bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.silent = silent
	h.line.wipe()
}

// stop ends the heartbeat, and removes the line of progress.
func (h *heartbeat) stop() {
	close(h.ended)
	h.gone.Wait()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.line.wipe()
}

// progressLine is the last line of a terminal, which is written again and again. A nil
// progressLine draws nothing.
type progressLine struct {
	out   io.Writer
	width int // columns of the terminal
}

// newProgressLine returns a line on w, or nil if w is not a terminal.
func newProgressLine(w io.Writer) *progressLine {
	if !isTerminal(w) || os.Getenv("TERM") == "dumb" {
		return nil
	}
	return &progressLine{out: w, width: terminalWidth(w)}
}

const barWidth = 20

// step draws how many cases are done.
func (l *progressLine) step(done, total int, id string) {
	if l == nil || total == 0 {
		return
	}
	full := barWidth * done / total
	bar := strings.Repeat("█", full) + strings.Repeat("░", barWidth-full)
	l.draw(fmt.Sprintf("%s %*d of %d  %s", bar, len(strconv.Itoa(total)), done, total, id))
}

func (l *progressLine) draw(text string) {
	if l != nil {
		l.wipe()
		fmt.Fprint(l.out, clipColumns(text, l.width-1)) // a full line would wrap
	}
}

// wipe removes the line.
func (l *progressLine) wipe() {
	if l != nil {
		fmt.Fprint(l.out, "\r\x1b[K")
	}
}

// progress shows a progress line on a terminal; wipe removes it. step is nil if w
// is not a terminal.
func progress(w io.Writer) (step func(done, total int, id string), wipe func()) {
	line := newProgressLine(w)
	if line == nil {
		return nil, func() {}
	}
	return line.step, line.wipe
}

// terminalWidth returns the columns of a terminal, and a very large number if w is none: a file
// has lines of any length.
func terminalWidth(w any) int {
	if f, ok := w.(*os.File); ok {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
			return width
		}
	}
	return math.MaxInt
}

// clipColumns shortens a line to n characters, and shows that it did.
func clipColumns(line string, n int) string {
	if utf8.RuneCountInString(line) <= n {
		return line
	}
	return string([]rune(line)[:max(0, n-1)]) + "…"
}
