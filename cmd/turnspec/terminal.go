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

// styleOf is with colours on a terminal whose owner wants them (no-color.org).
func styleOf(w io.Writer) report.Style {
	return report.Style{Color: isTerminal(w) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"}
}

// progress is a line that is written over and over, on a terminal only. clear
// removes it.
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
		_ = bar.Set(done) // a terminal that is gone needs no progress
	}
	wipe = func() {
		if bar != nil {
			_ = bar.Clear()
		}
	}
	return step, wipe
}
