// Package isolate runs a runtime so that it can reach the scripted model and nothing
// else. It is not part of the stable interface.
//
// A recording must not depend on the machine, and nothing of it may leave the
// machine. The recorder starts itself again in a network namespace that has only
// loopback and a fixed host name. The runtime gets a home of its own and a clean
// environment without proxies. If the system allows no namespace, the recorder
// runs without one, and Report gives the reason.
package isolate

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
)

// HostName is the host's name inside the namespace.
const HostName = "recorder"

// marker is the variable that marks the inner process.
const marker = "TURNSPEC_ISOLATED"

// Rooms are the folders of one recording, which are new and empty.
type Rooms struct {
	Root string // holds the others
	Home string
	Work string // working directory
	Tmp  string
	Bin  string // the first in PATH; whoever needs it creates it

	Private string // holds what processes of Launcher see as /tmp
}

// handleHangup handles SIGHUP if the program was started with SIGHUP ignored, for
// example by nohup. A child inherits an ignored signal but not a handled one, and a
// runtime that ignores SIGHUP behaves differently.
var handleHangup = sync.OnceFunc(func() {
	if signal.Ignored(syscall.SIGHUP) {
		signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	}
})

// NewRooms creates the folders of one recording.
func NewRooms() (*Rooms, error) {
	handleHangup()
	tmp, err := filepath.EvalSymlinks(os.TempDir()) // runtimes report the real path
	if err != nil {
		return nil, err
	}
	// The name has a fixed length, because runtimes count tokens of prompts that
	// contain it.
	if err := checkAbove(tmp); err != nil {
		return nil, err
	}
	root := filepath.Join(tmp, fmt.Sprintf("turnspec-%08x", rand.Uint32()))
	if err := os.Mkdir(root, 0o755); err != nil {
		return nil, err
	}
	r := &Rooms{
		Root: root, Home: filepath.Join(root, "home"), Work: filepath.Join(root, "work"), Tmp: filepath.Join(root, "tmp"),
		Bin: filepath.Join(root, "bin"), Private: filepath.Join(root, "private"),
	}
	for _, dir := range []string{r.Home, r.Work, r.Tmp, r.Private} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			_ = os.RemoveAll(root)
			return nil, err
		}
	}
	return r, nil
}

// checkAbove returns an error if the folder tmp or one above it is a repository: a
// runtime would find it from its working directory and behave differently. Folders
// that the runtime does not see, because Launcher replaces them, are not checked.
func checkAbove(tmp string) error {
	for dir := tmp; ; dir = filepath.Dir(dir) {
		if !hasPrivate() || !slices.Contains(sharedFolders(), dir) {
			if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
				return fmt.Errorf("%s is a repository, and a runtime that works below it behaves differently: remove %s, or set TMPDIR to a folder outside it",
					dir, filepath.Join(dir, ".git"))
			}
		}
		if dir == filepath.Dir(dir) {
			return nil
		}
	}
}

// Remove kills the processes that the runtime has left and removes the folders.
func (r *Rooms) Remove() error {
	r.killProcesses()
	return os.RemoveAll(r.Root)
}

// Env returns the whole environment of the runtime. It contains nothing of this
// process. path are folders that precede those of the system.
func (r *Rooms) Env(path ...string) []string {
	dirs := slices.Concat([]string{r.Bin}, path, []string{"/usr/local/bin:/usr/bin:/bin"})
	return []string{
		"PATH=" + strings.Join(dirs, string(os.PathListSeparator)),
		"HOME=" + r.Home,
		"TMPDIR=" + r.Tmp,
		"USER=dev",
		"LOGNAME=dev",
		"SHELL=/bin/bash",
		"TERM=dumb",
		"LANG=C.UTF-8",
		"TZ=UTC",
	}
}
