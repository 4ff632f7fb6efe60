package main

import (
	"io"
	"os"

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

// progress shows a progress line on a terminal; wipe removes it. step is nil if w
// is not a terminal.
func progress(w io.Writer) (step func(done, total int, id string), wipe func()) {
	if !isTerminal(w) || os.Getenv("TERM") == "dumb" {
		return nil, func() {}
	}
	var bar *progressbar.ProgressBar
	step = func(done, total int, id string) {
		if bar == nil {
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
