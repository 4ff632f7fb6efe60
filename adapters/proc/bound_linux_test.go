package proc

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestEndWithProgram kills a program, and lets another panic: what it has started ends, although it
// reads no stdin.
func TestEndWithProgram(t *testing.T) {
	for _, how := range []string{"killed", "panics"} {
		t.Run(how, func(t *testing.T) {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), starting+"="+how)
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			line, err := bufio.NewReader(out).ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			pid, err := strconv.Atoi(strings.TrimSpace(line))
			if err != nil {
				t.Fatal(err)
			}
			if how == "killed" {
				if !runs(pid) {
					t.Fatal("the process has ended before its program")
				}
				if err := cmd.Process.Kill(); err != nil {
					t.Fatal(err)
				}
			}
			if err := cmd.Wait(); err == nil {
				t.Fatal("the program has ended without an error")
			}
			for range 100 {
				if !runs(pid) {
					return
				}
				time.Sleep(50 * time.Millisecond)
			}
			t.Error("the process runs on after its program")
			_ = signalPID(-pid, SIGKILL)
		})
	}
}

// runs reports whether a process runs: one that has ended may wait for somebody to read its exit code.
func runs(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, state, ok := strings.Cut(string(b), ") ")
	return err == nil && ok && state[0] != 'Z' && state[0] != 'X'
}

// TestStartedByAnyThread starts processes from threads that end at once: the processes run on.
func TestStartedByAnyThread(t *testing.T) {
	var all sync.WaitGroup
	for range 8 {
		all.Add(1)
		go func() {
			runtime.LockOSThread() // and the thread ends with the goroutine
			p, err := Exec{EndWithProgram: true}.Launch(t.Context(), Command{Argv: []string{os.Args[0]}, Env: append(os.Environ(), sleeper+"=1")})
			if err != nil {
				t.Error(err)
				all.Done()
				return
			}
			go func() {
				defer all.Done()
				select {
				case <-p.(*child).ended:
					t.Error("the process has ended with the thread")
				case <-time.After(300 * time.Millisecond):
				}
				End(p, Grace{Stdin: time.Millisecond, Term: time.Second})
			}()
		}()
	}
	all.Wait()
}
