package main

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/turnspec/turnspec/conformance"
)

// verdictLine matches the first line that a worker prints about a recording.
var verdictLine = regexp.MustCompile(`^(ok|same|DIFF|FAIL|skip|again) `)

// workers runs this command line once for each shard, each in its own namespace, so
// that all their models can listen at the same address. It copies their output, one
// recording at a time, and returns the worst exit code.
func workers(ctx context.Context, args []string, n int, out, errOut io.Writer, recorded func()) (int, error) {
	self, err := os.Executable()
	if err != nil {
		return exitUsage, err
	}
	var mu sync.Mutex
	codes := make([]int, n)
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			cmd := exec.CommandContext(ctx, self, append(slices.Clip(args), "--shard", conformance.Shard{Index: i + 1, Total: n}.String())...)
			cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
			if i == 0 {
				cmd.Stderr = errOut // the others print the same
			}
			stdout, err := cmd.StdoutPipe()
			if err == nil {
				err = cmd.Start()
			}
			if err != nil {
				errs[i] = err
				return
			}
			pass(stdout, func(text string) {
				mu.Lock()
				defer mu.Unlock()
				_, _ = io.WriteString(out, text) // if the output has no reader, the exit code remains
				if recorded != nil && verdictLine.MatchString(text) && !strings.HasPrefix(text, "again ") {
					recorded()
				}
			})
			err = cmd.Wait()
			if exit, ok := errors.AsType[*exec.ExitError](err); ok {
				codes[i], err = exit.ExitCode(), nil
			}
			errs[i] = err
		})
	}
	wg.Wait()
	worst := 0
	for _, c := range codes {
		if c < 0 { // killed by a signal
			c = exitUsage
		}
		worst = max(worst, c)
	}
	return worst, errors.Join(errors.Join(errs...), ctx.Err())
}

// pass calls emit once for each recording, with all lines about it.
func pass(r io.Reader, emit func(string)) {
	in := bufio.NewReader(r)
	var block strings.Builder
	for {
		line, err := in.ReadString('\n')
		if verdictLine.MatchString(line) && block.Len() > 0 {
			emit(block.String())
			block.Reset()
		}
		block.WriteString(line)
		if err != nil {
			break
		}
	}
	if block.Len() > 0 {
		emit(block.String())
	}
}
