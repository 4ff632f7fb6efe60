package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/turnspec/turnspec/conformance/lab/mutants/on"
)

// Ask and Answer are the types of the player's protocol.
type (
	// Ask is a request to play cases.
	Ask struct {
		Mutant  int
		Cases   []string
		Plain   bool
		Goldens bool
		Trace   bool
		Limit   int64
	}
	// Answer is the result.
	Answer struct {
		Killed    bool
		Case      string
		Checks    []string
		Hung      bool
		Cases     []string
		Traced    []int
		Questions int64
		Err       string
	}
)

// mutantLimit bounds all cases of a mutant, in real time.
const mutantLimit = 10 * time.Minute

// worker is a player. It is started again if it has died.
type worker struct {
	program string
	from    int // the mutant that is on from the start; 0 for none

	cmd *exec.Cmd
	in  *os.File
	out *bufio.Reader
	err *tail
}

// deathError is how a player died.
type deathError struct{ how string }

func (d *deathError) Error() string { return d.how }

func (w *worker) startPlayer() error {
	inR, inW, err := os.Pipe()
	if err != nil {
		return err
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		return errors.Join(err, inR.Close(), inW.Close())
	}
	w.cmd, w.in, w.out, w.err = exec.Command(w.program), inW, bufio.NewReader(outR), &tail{}
	w.cmd.Env = append(os.Environ(), "GOMAXPROCS=1", "GOTRACEBACK=single", fmt.Sprintf("TURNSPEC_MUTANT=%d", w.from))
	w.cmd.Stdin, w.cmd.Stdout, w.cmd.Stderr = inR, outW, w.err
	return errors.Join(w.cmd.Start(), inR.Close(), outW.Close())
}

func (w *worker) endPlayer() {
	if w.cmd == nil {
		return
	}
	_ = w.in.Close()
	_ = w.cmd.Process.Kill()
	_ = w.cmd.Wait()
	w.cmd = nil
}

// ask returns the answer of the player, or a *deathError.
func (w *worker) ask(q Ask) (a Answer, err error) {
	if w.cmd == nil {
		if err := w.startPlayer(); err != nil {
			return a, err
		}
	}
	b, err := json.Marshal(q)
	if err != nil {
		return a, err
	}
	late := time.AfterFunc(mutantLimit, func() { _ = w.cmd.Process.Kill() })
	_, _ = w.in.Write(append(b, '\n')) // if the player is dead, the read fails too
	line, err := w.out.ReadBytes('\n')
	inTime := late.Stop()
	if err != nil {
		_ = w.cmd.Wait()
		d := &deathError{"crash: " + w.err.first()}
		switch code := w.cmd.ProcessState.ExitCode(); {
		case !inTime:
			d.how = "hangs"
		case code == on.Spins:
			d.how = "spins"
		case code == on.Grows:
			d.how = "grows"
		}
		w.endPlayer()
		return a, d
	}
	if err := json.Unmarshal(line, &a); err != nil {
		return a, err
	}
	if a.Hung {
		w.endPlayer()
	}
	if a.Err != "" {
		return a, errors.New(a.Err)
	}
	return a, nil
}

// tail keeps the first bytes that a dying player wrote.
type tail struct {
	mu sync.Mutex
	b  []byte
}

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b = append(t.b, b[:min(len(b), 4096-len(t.b))]...)
	return len(b), nil
}

func (t *tail) first() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	line, _, _ := strings.Cut(strings.TrimSpace(string(t.b)), "\n")
	return line
}
