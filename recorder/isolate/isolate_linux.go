package isolate

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Enter puts the program into a namespace with only loopback. In the outer
// process it starts the program again with args, waits for its end and returns
// reexeced true with its exit code. In the inner process, and where no
// namespace is allowed, reexeced is false: go on, and say Report.
func Enter(args []string) (reexeced bool, exitCode int, err error) {
	state := os.Getenv(marker)
	if outer, ok := strings.CutPrefix(state, inside); ok {
		if outer == spaces() {
			return false, 0, fmt.Errorf("%s says that this is a namespace of its own, but it is not: unset it", marker)
		}
		begin()
		return false, 0, nil
	}
	if state != "" {
		return false, 0, nil // tried, not allowed: the value says why
	}
	reason, exitCode, err := again(args)
	if reason != "" {
		return false, 0, os.Setenv(marker, reason)
	}
	return true, exitCode, err
}

// inside begins the marker's value in the inner process; the namespaces of the
// outer one follow, so that a value which was carried along by mistake does not
// change the machine's host name.
const inside = "inside "

func spaces() string {
	uts, _ := os.Readlink("/proc/self/ns/uts")
	net, _ := os.Readlink("/proc/self/ns/net")
	return uts + " " + net
}

// again starts this program in new namespaces. reason is why it could not be
// made ready.
func again(args []string) (reason string, exitCode int, err error) {
	r, w, err := os.Pipe()
	if err != nil {
		return "", 0, err
	}
	defer func() { _ = r.Close() }()
	cmd := exec.Command("/proc/self/exe", args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.ExtraFiles = []*os.File{w}
	cmd.Env = append(os.Environ(), marker+"="+inside+spaces())
	cmd.SysProcAttr = namespaces()
	// A lost parent must not leave a recording behind; the signal is bound to
	// the thread that starts the child.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd.SysProcAttr.Pdeathsig = syscall.SIGTERM

	// The child shares the terminal's process group and gets ^C itself; what
	// is sent to this process alone is passed on.
	sigs := make(chan os.Signal, 4)
	signal.Notify(sigs, syscall.SIGINT, syscall.SIGTERM)
	defer signal.Stop(sigs)
	err = cmd.Start()
	_ = w.Close()
	if err != nil {
		return err.Error(), 0, nil
	}
	why, _ := io.ReadAll(r) // ends when the inner process is ready, or has ended
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	for {
		select {
		case s := <-sigs:
			if s == syscall.SIGTERM {
				_ = cmd.Process.Signal(s)
			}
		case err = <-done:
			if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
				err = nil
			}
			return string(why), cmd.ProcessState.ExitCode(), err
		}
	}
}

// begin makes the inner process ready. If it cannot, it tells the outer one why
// and ends, so that the outer one goes on without.
func begin() {
	tell := os.NewFile(3, "outer")
	if err := ready(); err != nil {
		_, _ = tell.WriteString(err.Error())
		os.Exit(1)
	}
	_ = tell.Close()
}

// namespaces asks for a network and a host name of our own, and for a user
// namespace where we are not root.
func namespaces() *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNET | unix.CLONE_NEWUTS}
	if uid, gid := os.Geteuid(), os.Getegid(); uid != 0 {
		attr.Cloneflags |= unix.CLONE_NEWUSER
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}
		// The capabilities that the namespace gives survive the exec.
		attr.AmbientCaps = []uintptr{unix.CAP_NET_ADMIN, unix.CAP_SYS_ADMIN}
	}
	return attr
}

// ready brings loopback up and sets the host's name.
func ready() error {
	if err := unix.Sethostname([]byte(HostName)); err != nil {
		return fmt.Errorf("set host name: %w", err)
	}
	s, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("loopback: %w", err)
	}
	defer func() { _ = unix.Close(s) }()
	ifr, err := unix.NewIfreq("lo")
	if err != nil {
		return fmt.Errorf("loopback: %w", err)
	}
	if err := unix.IoctlIfreq(s, unix.SIOCGIFFLAGS, ifr); err != nil {
		return fmt.Errorf("loopback: %w", err)
	}
	ifr.SetUint16(ifr.Uint16() | unix.IFF_UP)
	if err := unix.IoctlIfreq(s, unix.SIOCSIFFLAGS, ifr); err != nil {
		return fmt.Errorf("loopback up: %w", err)
	}
	return nil
}

// Isolated reports whether this process stands in its own network.
func Isolated() bool { return strings.HasPrefix(os.Getenv(marker), inside) }

// Report says, a line each, what keeps the runtime apart.
func Report() []string {
	out := []string{
		"home, temp and work folders: fresh, removed afterwards",
		"environment: clean, without proxies; the model is on loopback",
	}
	switch why := os.Getenv(marker); {
	case Isolated():
		return append(out, "network: a namespace with only loopback, host name "+HostName)
	case why == "":
		return append(out, "network: the machine's own (no namespace was asked for)")
	default:
		return append(out, "network: the machine's own: a namespace is not allowed here ("+why+")")
	}
}
