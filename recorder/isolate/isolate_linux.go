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

// Enter moves the program into a network namespace with only loopback. In the outer
// process it starts the program again with args, waits until it exits and returns
// reexeced true and its exit code. In the inner process, and if no namespace is
// allowed, reexeced is false and the caller continues.
func Enter(args []string) (reexeced bool, exitCode int, err error) {
	state := os.Getenv(marker)
	if outer, ok := strings.CutPrefix(state, inside); ok {
		if outer == currentNamespaces() {
			return false, 0, fmt.Errorf("%s is set as in a namespace of the recorder, but this is not one: unset it", marker)
		}
		prepare()
		return false, 0, nil
	}
	if state != "" {
		return false, 0, nil // not allowed; the value is the reason
	}
	reason, exitCode, err := reexec(args)
	if reason != "" {
		return false, 0, os.Setenv(marker, reason)
	}
	return true, exitCode, err
}

// inside is the start of the marker's value in the inner process. The namespaces of
// the outer process follow, so that a value which was inherited by mistake does not
// change the host name of the machine.
const inside = "inside "

func currentNamespaces() string {
	uts, _ := os.Readlink("/proc/self/ns/uts")
	net, _ := os.Readlink("/proc/self/ns/net")
	return uts + " " + net
}

// reexec starts this program in new namespaces. reason is the reason why that is not
// possible, or "".
func reexec(args []string) (reason string, exitCode int, err error) {
	r, w, err := os.Pipe()
	if err != nil {
		return "", 0, err
	}
	defer func() { _ = r.Close() }()
	cmd := exec.Command("/proc/self/exe", args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.ExtraFiles = []*os.File{w}
	cmd.Env = append(os.Environ(), marker+"="+inside+currentNamespaces())
	cmd.SysProcAttr = newNamespaces()
	// The child must not outlive this process. The signal is bound to the thread
	// that starts the child.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd.SysProcAttr.Pdeathsig = syscall.SIGTERM

	// The child is in the process group of the terminal and gets ^C itself. A
	// signal to this process alone is forwarded: a second SIGINT would end the
	// child before it has removed its folders.
	sigs := make(chan os.Signal, 4)
	signal.Notify(sigs, syscall.SIGINT, syscall.SIGTERM)
	defer signal.Stop(sigs)
	err = cmd.Start()
	_ = w.Close()
	if err != nil {
		return err.Error(), 0, nil
	}
	why, _ := io.ReadAll(r) // until the inner process is ready or has exited
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	for {
		select {
		case s := <-sigs:
			if s == syscall.SIGTERM || !inForeground() {
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

// inForeground reports whether this process gets ^C from a terminal.
func inForeground() bool {
	tty, err := os.Open("/dev/tty")
	if err != nil {
		return false
	}
	defer func() { _ = tty.Close() }()
	group, err := unix.IoctlGetInt(int(tty.Fd()), unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}

// prepare sets up the namespaces of the inner process. If it fails, it sends the
// reason to the outer process and exits, and the outer process continues.
func prepare() {
	outer := os.NewFile(3, "outer")
	if err := setUpNetwork(); err != nil {
		_, _ = outer.WriteString(err.Error())
		os.Exit(1)
	}
	errPrivate = tryPrivate()
	_ = outer.Close()
}

// newNamespaces requests a network and a host name, and a user namespace unless the
// user is root.
func newNamespaces() *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNET | unix.CLONE_NEWUTS}
	if uid, gid := os.Geteuid(), os.Getegid(); uid != 0 {
		attr.Cloneflags |= unix.CLONE_NEWUSER
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}
		// The inner process keeps the capabilities of the namespace.
		attr.AmbientCaps = []uintptr{unix.CAP_NET_ADMIN, unix.CAP_SYS_ADMIN}
	}
	return attr
}

// setUpNetwork brings loopback up and sets the host name.
func setUpNetwork() error {
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

// Isolated reports whether this process has a network of its own.
func Isolated() bool { return strings.HasPrefix(os.Getenv(marker), inside) }

// Report describes the isolation of the runtime, in lines.
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
