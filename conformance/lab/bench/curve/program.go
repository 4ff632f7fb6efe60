package curve

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"strconv"
	"time"
)

// ran is what the last line of `turnspec run` says.
var ran = regexp.MustCompile(`(\d+) cases and (\d+) runs with a fault`)

const checkFailed = 1 // the exit code of `turnspec run`

// Suite measures a run of the suite, by a program of its own. N is its runs, with and
// without a fault. Memory is the most that the program held. A check may fail: the run is
// whole nevertheless, and what the program printed is written to failures.
func Suite(ctx context.Context, failures io.Writer, argv ...string) (Point, error) {
	c := exec.CommandContext(ctx, argv[0], argv[1:]...)
	var errs bytes.Buffer
	c.Stderr = &errs
	began := time.Now()
	out, err := c.Output()
	wall := time.Since(began).Seconds()
	if err != nil {
		if c.ProcessState.ExitCode() != checkFailed {
			return Point{}, fmt.Errorf("%q: %w\n%s", argv, err, errs.Bytes())
		}
		if _, err := failures.Write(out); err != nil {
			return Point{}, err
		}
	}
	m := ran.FindSubmatch(out)
	if m == nil {
		return Point{}, fmt.Errorf("%q: it does not say how many cases it ran", argv)
	}
	cases, _ := strconv.Atoi(string(m[1]))
	faulted, _ := strconv.Atoi(string(m[2]))
	return Point{
		N: cases + faulted, CPU: (c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Seconds(), Wall: wall,
		Memory: mostResident(c.ProcessState),
	}, nil
}
