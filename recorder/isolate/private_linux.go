package isolate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/turnspec/turnspec/adapters/proc"
)

// errPrivate is why processes of the inner process cannot have mounts of their
// own, or nil.
var errPrivate error

// ReportTmp describes what processes of Launcher see as /tmp.
func ReportTmp() string {
	if !Isolated() {
		return "/tmp: the machine's own, because there is no namespace"
	}
	if errPrivate != nil {
		return "/tmp: the machine's own (" + errPrivate.Error() + ")"
	}
	return "/tmp: a folder of the recording"
}

// Launcher returns a launcher whose processes see the folder Private as /tmp, and
// as the folder for temporary files of this machine. Sandboxes of runtimes create
// files there, such as .git, and a sandbox that is killed leaves them: every later
// recording would run in a repository.
//
// Outside the namespace of Enter, and if mounts are not allowed, it returns
// proc.Exec.
func (r *Rooms) Launcher() proc.Launcher {
	if !hasPrivate() {
		return proc.Exec{}
	}
	return proc.LauncherFunc(r.launchPrivate)
}

func hasPrivate() bool { return Isolated() && errPrivate == nil }

// launchPrivate starts a process from a thread with separate mounts. The
// thread stays locked, so it ends with the goroutine.
func (r *Rooms) launchPrivate(ctx context.Context, c proc.Command) (p proc.Process, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		if err = r.mountPrivate(c.Argv, c.Env); err == nil {
			p, err = proc.Exec{}.Launch(ctx, c)
		}
	}()
	<-done
	return p, err
}

// mountPrivate replaces the shared folders in the mounts of this thread. The rooms
// themselves, the program, the programs in its PATH and this program, which MCP servers
// run, stay visible.
func (r *Rooms) mountPrivate(argv, env []string) error {
	if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
		return fmt.Errorf("mounts of the recording: %w", err)
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("mounts of the recording: %w", err)
	}
	keep := []string{r.Root}
	programs := slices.Clone(argv[:min(len(argv), 1)])
	if self, err := os.Executable(); err == nil {
		programs = append(programs, self)
	}
	for _, v := range env {
		if dirs, is := strings.CutPrefix(v, "PATH="); is {
			for _, dir := range filepath.SplitList(dirs) {
				if info, err := os.Stat(dir); err == nil && info.IsDir() {
					programs = append(programs, filepath.Join(dir, "program"), filepath.Join(realPath(dir), "program"))
				}
			}
		}
	}
	for _, program := range programs {
		for _, file := range []string{program, realPath(program)} {
			if filepath.IsAbs(file) {
				keep = append(keep, visiblePath(file))
			}
		}
	}
	for i, shared := range sharedFolders() {
		if err := mountOver(shared, filepath.Join(r.Private, fmt.Sprint(i)), keep); err != nil {
			return fmt.Errorf("a private %s: %w", shared, err)
		}
	}
	return nil
}

// mountOver mounts private over shared, and the files and folders of keep that are
// below shared over themselves.
func mountOver(shared, private string, keep []string) error {
	if err := os.MkdirAll(private, 0o755); err != nil {
		return err
	}
	if err := os.Chmod(private, 0o777|os.ModeSticky); err != nil {
		return err
	}
	kept := map[string]int{}
	defer func() {
		for _, fd := range kept {
			_ = unix.Close(fd)
		}
	}()
	for _, path := range keep {
		inside, err := filepath.Rel(shared, path)
		if _, have := kept[path]; have || err != nil || inside == "." || !filepath.IsLocal(inside) {
			continue
		}
		if err := makeMountPoint(path, filepath.Join(private, inside)); err != nil {
			return err
		}
		if kept[path], err = unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0); err != nil {
			return err
		}
	}
	if err := unix.Mount(private, shared, "", unix.MS_BIND, ""); err != nil {
		return err
	}
	for path, fd := range kept {
		if err := unix.Mount(fmt.Sprintf("/proc/thread-self/fd/%d", fd), path, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
			return err
		}
	}
	return nil
}

// makeMountPoint makes an empty file or folder over which path can be mounted.
func makeMountPoint(path, point string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if info.IsDir() {
		return os.MkdirAll(point, 0o755)
	}
	if err := os.MkdirAll(filepath.Dir(point), 0o755); err != nil {
		return err
	}
	return os.WriteFile(point, nil, 0o600)
}

// visiblePath returns what must stay visible for a program to run: the folder in which
// it is installed, because a program starts others beside it. Of a program that lies in
// a shared folder itself, it is the program alone.
func visiblePath(program string) string {
	if root, _, ok := strings.Cut(program, "/node_modules/"); ok {
		return root
	}
	if dir := filepath.Dir(program); !slices.Contains(sharedFolders(), dir) {
		return dir
	}
	return program
}

// sharedFolders returns the folders that every program of the machine may write to,
// the outer one first.
func sharedFolders() []string {
	out := []string{"/tmp"}
	if tmp := realPath(os.TempDir()); !slices.Contains(out, tmp) {
		out = append(out, tmp)
	}
	return out
}

func realPath(file string) string {
	if target, err := filepath.EvalSymlinks(file); err == nil {
		return target
	}
	return file
}

// tryPrivate returns why processes cannot have mounts of their own, or nil.
func tryPrivate() (err error) {
	rooms, err := NewRooms()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(rooms.Root)) }()
	done := make(chan error)
	go func() {
		runtime.LockOSThread()
		done <- rooms.mountPrivate(nil, nil)
	}()
	return <-done
}
