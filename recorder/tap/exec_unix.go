//go:build unix

package tap

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"github.com/turnspec/turnspec/fixtures"
)

// recorderArg is the first argument of the process that relays.
const recorderArg = "turnspec-tap-recorder"

// Exec replaces this process by a program, and lets another process record what passes
// through its stdin, stdout and stderr into a file of the folder. It returns only if the
// program cannot be started.
//
// The relaying process has its own session and ignores signals: those of a client reach the
// program alone. It ends when the program has closed its pipes.
//
// A terminal is not relayed: the program keeps it. If the recording cannot begin, Exec writes
// the reason to warn, before the program starts, and starts it as if there were no recording.
func Exec(dir string, argv []string, warn io.Writer) error {
	program, err := lookProgram(argv[0])
	if err != nil {
		return err
	}
	streams := relayedStreams()
	if len(streams) == 0 {
		fmt.Fprintf(warn, "turnspec tap: %s is not recorded: it is on a terminal\n", argv[0])
	} else if err := startRelay(dir, argv, streams); err != nil {
		fmt.Fprintf(warn, "turnspec tap: %s is not recorded: %v\n", argv[0], err)
	}
	return unix.Exec(program, argv, os.Environ())
}

// lookProgram returns the path of a program. A script that calls the tap and that PATH finds
// under the name of the program would call itself again and again.
func lookProgram(name string) (string, error) {
	file, err := exec.LookPath(name)
	if err != nil || strings.Contains(name, "/") {
		return file, err
	}
	f, err := os.Open(file)
	if err != nil {
		return file, nil // a program may be unreadable
	}
	defer func() { _ = f.Close() }()
	head := make([]byte, 4096)
	n, _ := io.ReadFull(f, head)
	if text := string(head[:n]); strings.HasPrefix(text, "#!") && strings.Contains(text, "turnspec") && strings.Contains(text, " tap ") {
		return "", fmt.Errorf("%s is itself a script that starts turnspec tap: write the path of the real %s", file, name)
	}
	return file, nil
}

// relayedStreams returns which of stdin, stdout and stderr are relayed. If stdout and stderr
// are one file, they stay one.
func relayedStreams() []int {
	var out []int
	for fd := range 3 {
		if term.IsTerminal(fd) || fd == 2 && sameFile(1, 2) {
			continue
		}
		out = append(out, fd)
	}
	return out
}

func sameFile(a, b int) bool {
	var x, y unix.Stat_t
	return unix.Fstat(a, &x) == nil && unix.Fstat(b, &y) == nil && x.Dev == y.Dev && x.Ino == y.Ino
}

// startRelay starts the process that relays, and puts pipes to it in the place of the streams.
func startRelay(dir string, argv []string, streams []int) (err error) {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	file, err := Create(dir, argv[0])
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(file.Name()))
		}
		_ = file.Close()
	}()
	// Pipes of package os would not block, and the program expects that they do.
	files := []uintptr{0, 0, 0, file.Fd()}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer func() { _ = null.Close() }()
	files[0], files[1], files[2] = null.Fd(), null.Fd(), null.Fd()
	ours := map[int]int{}
	var theirs []int
	defer func() {
		for _, fd := range theirs {
			_ = unix.Close(fd)
		}
	}()
	var names []string
	for _, fd := range streams {
		var p [2]int
		if err := closedOnExec(p[:]); err != nil {
			return err
		}
		mine, other := p[1], p[0]
		if fd == 0 {
			mine, other = p[0], p[1]
		}
		ours[fd], theirs = mine, append(theirs, mine, other)
		files = append(files, uintptr(fd), uintptr(other))
		names = append(names, strconv.Itoa(fd))
	}
	if fd, err := openSelf(); err == nil {
		theirs = append(theirs, fd)
		files = append(files, uintptr(fd))
		names = append(names, "exit")
	}
	args := append([]string{self, recorderArg, strings.Join(names, ","), file.Name()}, argv...)
	_, err = syscall.ForkExec(self, args, &syscall.ProcAttr{Env: os.Environ(), Files: files, Sys: &syscall.SysProcAttr{Setsid: true}})
	if err != nil {
		return err
	}
	one := sameFile(1, 2)
	for fd, pipe := range ours {
		if err := unix.Dup2(pipe, fd); err != nil {
			return err
		}
	}
	if _, relayed := ours[1]; relayed && one {
		return unix.Dup2(1, 2)
	}
	return nil
}

// closedOnExec makes a pipe that a program that is executed does not inherit.
func closedOnExec(p []int) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := unix.Pipe(p); err != nil {
		return err
	}
	unix.CloseOnExec(p[0])
	unix.CloseOnExec(p[1])
	return nil
}

// Main relays if this process was started by Exec to do so.
func Main(args []string) (handled bool) {
	if len(args) < 5 || args[1] != recorderArg {
		return false
	}
	signal.Ignore(unix.SIGINT, unix.SIGTERM, unix.SIGHUP, unix.SIGQUIT, unix.SIGUSR1, unix.SIGUSR2)
	name := args[3]
	streams := strings.Split(args[2], ",")
	closeInherited(4 + 2*len(streams))
	r := Start(os.NewFile(3, name), args[4:], func(err error) {
		// stderr is that of the program.
		_ = os.WriteFile(ErrorFile(name), fmt.Appendf(nil, "The recording ends early: %v\n", err), 0o600)
	})
	var pumps sync.WaitGroup
	next, self := 4, -1
	for _, stream := range streams {
		client, program := next, next+1
		switch stream {
		case "0":
			pumps.Go(func() {
				tee := r.Lines(fixtures.In)
				pump(client, program, tee)
				_ = tee.Close()
				r.EOF()
				closeBoth(client, program)
			})
		case "1", "2":
			dir := fixtures.Out
			if stream == "2" {
				dir = fixtures.Err
			}
			pumps.Go(func() {
				tee := r.Lines(dir)
				pump(program, client, tee)
				_ = tee.Close()
				closeBoth(client, program)
			})
		case "exit":
			self = next
		}
		next += 2
	}
	pumps.Wait()
	if exit, known := awaitExit(self); known {
		r.Exit(exit)
	}
	r.Close()
	return true
}

func closeBoth(a, b int) {
	_ = unix.Close(a)
	_ = unix.Close(b)
}

// closeInherited closes the descriptors, from a number on, that the client has given to the
// program besides its streams: the program alone may hold them open.
func closeInherited(from int) {
	dir, err := os.Open("/dev/fd")
	if err != nil {
		return
	}
	defer func() { _ = dir.Close() }()
	names, _ := dir.Readdirnames(-1)
	for _, name := range names {
		fd, err := strconv.Atoi(name)
		if err != nil || fd < from {
			continue
		}
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil && flags&unix.FD_CLOEXEC == 0 {
			_ = unix.Close(fd)
		}
	}
}

// pump copies bytes at once, and writes them to tee before. It returns when there is nothing
// more to read, or when nobody reads any more.
func pump(from, to int, tee io.Writer) {
	buf := make([]byte, 64<<10)
	fds := []unix.PollFd{{Fd: int32(from), Events: unix.POLLIN}, {Fd: int32(to)}}
	for {
		if _, err := unix.Poll(fds, -1); err != nil {
			if errors.Is(err, unix.EINTR) {
				continue
			}
			return
		}
		switch {
		case fds[1].Revents&unix.POLLNVAL != 0:
			fds[1].Fd = -1 // a device that cannot be waited for
			continue
		case fds[1].Revents&(unix.POLLERR|unix.POLLHUP) != 0:
			return
		}
		n, err := unix.Read(from, buf)
		switch {
		case errors.Is(err, unix.EINTR), errors.Is(err, unix.EAGAIN):
			continue
		case err != nil || n == 0:
			return
		}
		_, _ = tee.Write(buf[:n])
		if writeAll(to, buf[:n]) != nil {
			return
		}
	}
}

func writeAll(to int, b []byte) error {
	for len(b) > 0 {
		n, err := unix.Write(to, b)
		switch {
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EAGAIN): // the client's descriptor does not block
			_, _ = unix.Poll([]unix.PollFd{{Fd: int32(to), Events: unix.POLLOUT}}, -1)
		case err != nil:
			return err
		}
		b = b[max(n, 0):]
	}
	return nil
}
