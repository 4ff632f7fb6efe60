package bench

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	linereader "github.com/turnspec/turnspec/adapters/lines"
	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/conformance/lab/bench/internal/load"
)

// The whole step reads a runtime's stdout from a file and writes events as NDJSON,
// in a separate program. Node does the same as a control, and a program that
// splits lines is the floor.

// envStep holds the contender's name and the file for a step.
const envStep = "TURNSPEC_BENCH_STEP"

// Main returns at once, unless a benchmark has started this program as a stand-in
// under load or for a whole step: then it does that and exits. A program that
// measures calls Main first in main, a test in TestMain. steps are the adapters for
// steps, by runtime.
func Main(steps map[string]adapters.Transcriber) {
	load.Main()
	text := os.Getenv(envStep)
	if text == "" {
		return
	}
	var in stepInput
	out := stepOutput{}
	err := json.Unmarshal([]byte(text), &in)
	if err == nil {
		out, err = doStep(in, steps)
	}
	if err == nil {
		err = json.MarshalWrite(os.Stdout, out)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "turnspec: the step:", err)
		os.Exit(2)
	}
	os.Exit(0)
}

type stepInput struct {
	Name string `json:"name"` // a runtime, or Lines
	File string `json:"file"`
}

// stepOutput is the cost of a step. Times do not include the start of the program.
type stepOutput struct {
	Events int     `json:"events"`
	Wall   float64 `json:"wall"` // nanoseconds
	CPU    float64 `json:"cpu"`
	RSS    float64 `json:"rss"` // bytes, maximum
	Allocs float64 `json:"allocs,omitzero"`
	Bytes  float64 `json:"bytes,omitzero"`
}

func doStep(in stepInput, steps map[string]adapters.Transcriber) (out stepOutput, err error) {
	f, err := os.Open(in.File)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, null.Close()) }()
	w := bufio.NewWriterSize(null, 64<<10)
	encoder := event.NewEncoder(w)
	line, end := func(time.Time, []byte) { out.Events++ }, func() {}
	if a, ok := steps[in.Name]; ok {
		t := a.Transcribe("s1", func(e event.Event) {
			out.Events++
			_ = encoder.Encode(e) // an event that cannot be encoded fails elsewhere
		})
		line, end = t.Line, t.End
	} else if in.Name != Lines {
		return out, fmt.Errorf("no adapter %q", in.Name)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	cpu, _ := CPUTime()
	start := time.Now()
	lines := linereader.NewReader(f, 0)
	for {
		b, err := lines.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return out, err
		}
		line(time.Now(), b)
	}
	end()
	err = w.Flush()
	out.Wall = float64(time.Since(start))
	now, _ := CPUTime()
	out.CPU, out.RSS = float64(now-cpu), mostResident()
	runtime.ReadMemStats(&after)
	out.Allocs, out.Bytes = float64(after.Mallocs-before.Mallocs), float64(after.TotalAlloc-before.TotalAlloc)
	return out, err
}

// stepFile writes the wire of a stretched case to a file.
func stepFile(ctx context.Context, dir, caseID, corpus string, deltas int) (file string, err error) {
	s, err := load.Plan{Case: caseID, Corpus: corpus, Deltas: deltas, Alone: true}.Load()
	if err != nil {
		return "", err
	}
	file = filepath.Join(dir, "wire.jsonl")
	f, err := os.Create(file)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := bufio.NewWriterSize(f, 1<<20)
	_, err = s.Serve(ctx, load.Timers(), nil, bytes.NewReader([]byte("go\n")), withoutReady{w})
	return file, errors.Join(err, w.Flush())
}

// withoutReady drops Ready, which no runtime writes.
type withoutReady struct{ w io.Writer }

func (w withoutReady) Write(b []byte) (int, error) {
	if string(b) == load.Ready+"\n" {
		return len(b), nil
	}
	return w.w.Write(b)
}

// runStep runs the whole step once.
func runStep(ctx context.Context, name, runtimeName, dir, file string) (map[string]float64, error) {
	var out stepOutput
	var b []byte
	var err error
	if name == Node {
		b, err = runNode(ctx, dir, "step.mjs", nodeStep, os.Environ(), runtimeName, file)
	} else {
		b, err = restartForStep(ctx, name, file)
	}
	if err == nil {
		err = json.Unmarshal(bytes.TrimSpace(b), &out)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	n := float64(out.Events)
	f := map[string]float64{"step-rate": n / (out.Wall / 1e9), "step-cpu": out.CPU / 1e9 / n, "step-memory": out.RSS}
	if out.Allocs > 0 {
		f["step-allocs"], f["step-bytes"] = out.Allocs/n, out.Bytes/n
	}
	return f, nil
}

// restartForStep starts this program for a step.
func restartForStep(ctx context.Context, name, file string) ([]byte, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(stepInput{name, file})
	if err != nil {
		return nil, err
	}
	p, err := (proc.Exec{}).Launch(ctx, proc.Command{Argv: []string{self}, Env: append(os.Environ(), envStep+"="+string(text))})
	if err != nil {
		return nil, err
	}
	stderr := proc.NewTail(4 << 10)
	var copied sync.WaitGroup
	copied.Go(func() { _, _ = io.Copy(stderr, p.Stderr()) })
	stop := context.AfterFunc(ctx, func() { _ = p.Signal(proc.SIGKILL) })
	defer stop()
	b, err := io.ReadAll(p.Stdout())
	copied.Wait()
	if e := p.Wait(); e != (proc.Exit{}) {
		err = errors.Join(err, fmt.Errorf("%v\n%s", e, stderr))
	}
	return b, err
}
