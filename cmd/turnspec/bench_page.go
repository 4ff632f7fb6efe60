package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/turnspec/turnspec/conformance/lab/bench/paint"
	"github.com/turnspec/turnspec/conformance/lab/bench/report"
)

type benchPageFlags struct {
	events  string
	deltas  int
	repeat  int
	useChat string
	gates   []string
	json    bool
	verbose bool
}

func benchPageCmd() *cobra.Command {
	var f benchPageFlags
	cmd := &cobra.Command{
		Use:   "page",
		Short: "Measure the chat page in a real browser, compared with a page that only appends text",
		Long: `Page measures what the users of the chat page wait for, in a Chromium without a window,
by the marks of the page itself. The control dom is a page that gets the same events from
the same server and appends their text to one text node. With --usechat, the control
usechat is what people would use instead: useChat of the AI SDK, with React. They take turns
in each repeat.

The loads:
  turn        from the click on send to the frame that shows the first text
  page-flood  deltas as fast as the server takes them, until a frame shows the last one,
              and how old the oldest delta was that no frame showed
  stored-N    a stored session of N events: from its choice to the frame that shows its
              newest messages, until the browser is idle, and the longest time between
              two frames while it is scrolled through

Exit codes: 0 measured, 1 a gate failed, 2 the measurement failed.`,
		Example: `  turnspec bench page
  turnspec bench page --repeat 11 --gate 'painted<=1.5x dom'
  turnspec bench page --events 1000,100000 --json
  make usechat && turnspec bench page --usechat .tmp/usechat/usechat.js`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runBenchPage(cmd, f) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.events, "events", "1000,10000,100000", "numbers of events of the stored sessions")
	fl.IntVar(&f.deltas, "deltas", 20_000, "deltas of the flood")
	fl.IntVar(&f.repeat, "repeat", 5, "number of repeats")
	fl.StringVar(&f.useChat, "usechat", "", "file with the page of useChat that make usechat builds, as another control")
	fl.StringArrayVar(&f.gates, "gate", nil, "exit with 1 unless this holds: 'painted<=1.5x dom' (repeatable)")
	fl.BoolVar(&f.json, "json", false, "print JSON as conformance/lab/bench/report/schema.json describes")
	fl.BoolVarP(&f.verbose, "verbose", "v", false, "print every figure")
	return cmd
}

func runBenchPage(cmd *cobra.Command, f benchPageFlags) error {
	gates, err := benchFlags{gates: f.gates}.parseGates()
	if err != nil {
		return err
	}
	c := paint.Config{Deltas: f.deltas, Repeats: f.repeat, UseChat: f.useChat, Turnspec: buildVersion()}
	for text := range strings.SplitSeq(f.events, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil || n < 1 {
			return fmt.Errorf("--events %q: want numbers from 1, such as 1000,100000", f.events)
		}
		c.Events = append(c.Events, n)
	}
	ctx, stop := interruptible(cmd)
	defer stop()
	step, wipe := progress(cmd.ErrOrStderr())
	c.Progress = step
	d, err := c.Run(ctx)
	wipe()
	if err != nil {
		return err
	}
	r := report.Report{Document: d}
	if r.Verdicts, err = report.Judge(d, gates); err != nil {
		return err
	}
	return printBench(cmd, r, f.json, f.verbose)
}

// printBench prints a report, and returns errFailed if a gate failed.
func printBench(cmd *cobra.Command, r report.Report, json, verbose bool) error {
	var err error
	if json {
		err = report.JSON(cmd.OutOrStdout(), r)
	} else {
		err = report.Text(cmd.OutOrStdout(), r, verbose)
	}
	if err != nil || !r.Failed() {
		return err
	}
	if json {
		err = report.Gates(cmd.ErrOrStderr(), r.Verdicts)
	}
	return errors.Join(err, errFailed)
}
