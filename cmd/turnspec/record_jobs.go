package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
)

// shard is one worker's part of a job: every n-th recording, from i on.
type shard struct{ i, n int }

func (s shard) String() string { return fmt.Sprintf("%d/%d", s.i, s.n) }

func parseShard(text string) (shard, error) {
	var s shard
	if _, err := fmt.Sscanf(text, "%d/%d", &s.i, &s.n); err != nil || s.n < 1 || s.i < 0 || s.i >= s.n {
		return s, fmt.Errorf("--shard %s: want i/n with 0 ≤ i < n", text)
	}
	return s, nil
}

// verdictLine begins what is told of one recording; the lines after it belong to
// it.
var verdictLine = regexp.MustCompile(`^(ok|same|DIFF|FAIL|skip|again) `)

// workers runs this command line once for each shard: each worker has a
// namespace of its own, so that all their models can listen at the same address.
// What they tell is passed on, one recording at a time. It returns the worst
// exit code.
func workers(ctx context.Context, args []string, n int, out, errOut io.Writer, told func()) (int, error) {
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
			cmd := exec.CommandContext(ctx, self, append(args, "--shard", shard{i, n}.String())...)
			cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
			if i == 0 {
				cmd.Stderr = errOut // the others would say the same
			}
			stdout, err := cmd.StdoutPipe()
			if err == nil {
				err = cmd.Start()
			}
			if err != nil {
				errs[i] = err
				return
			}
			pass(stdout, func(told1 string) {
				mu.Lock()
				defer mu.Unlock()
				_, _ = io.WriteString(out, told1) // who has gone needs no report; the exit code stays
				if told != nil && verdictLine.MatchString(told1) && !strings.HasPrefix(told1, "again ") {
					told()
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
		if c < 0 { // by a signal
			c = exitUsage
		}
		worst = max(worst, c)
	}
	return worst, errors.Join(errors.Join(errs...), ctx.Err())
}

// pass gives what is told of one recording at once.
func pass(r io.Reader, tell func(string)) {
	in := bufio.NewReader(r)
	var block strings.Builder
	for {
		line, err := in.ReadString('\n')
		if verdictLine.MatchString(line) && block.Len() > 0 {
			tell(block.String())
			block.Reset()
		}
		block.WriteString(line)
		if err != nil {
			break
		}
	}
	if block.Len() > 0 {
		tell(block.String())
	}
}
