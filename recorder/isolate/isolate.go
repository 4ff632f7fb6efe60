// Package isolate answers one question: how is a runtime kept from everything
// but the scripted model?
//
// A recording must not depend on the machine and must not leave it. The
// recorder starts itself again in a network namespace that has only loopback,
// under a fixed host name; the runtime gets a home of its own and a clean
// environment without proxies. Where the system allows no namespace, the rest
// still holds and the report says what is missing and why.
package isolate

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
)

// HostName is the host's name inside the namespace.
const HostName = "recorder"

// marker names the variable by which the inner process knows itself.
const marker = "TURNSPEC_ISOLATED"

// Rooms are the folders of one runtime, fresh and empty.
type Rooms struct {
	Root string // holds the others
	Home string
	Work string // working directory
	Tmp  string
	Bin  string // comes first in PATH; it is made by who puts something there
}

// hangup hears a hangup where the program was started deaf to it, by nohup say.
// A child inherits deafness, and a runtime that no hangup ends is not what was
// recorded; what its parent hears it does not inherit.
var hangup = sync.OnceFunc(func() {
	if signal.Ignored(syscall.SIGHUP) {
		signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	}
})

// NewRooms makes the folders of one recording. Remove removes them.
func NewRooms() (*Rooms, error) {
	hangup()
	tmp, err := filepath.EvalSymlinks(os.TempDir()) // runtimes tell the real path
	if err != nil {
		return nil, err
	}
	// A name of fixed length: runtimes count tokens of prompts that hold it.
	root := filepath.Join(tmp, fmt.Sprintf("turnspec-%08x", rand.Uint32()))
	if err := os.Mkdir(root, 0o755); err != nil {
		return nil, err
	}
	r := &Rooms{Root: root, Home: filepath.Join(root, "home"), Work: filepath.Join(root, "work"), Tmp: filepath.Join(root, "tmp"), Bin: filepath.Join(root, "bin")}
	for _, dir := range []string{r.Home, r.Work, r.Tmp} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			_ = os.RemoveAll(root)
			return nil, err
		}
	}
	return r, nil
}

// Remove ends what the runtime left running, and removes the folders and all
// that is in them.
func (r *Rooms) Remove() error {
	r.sweep()
	return os.RemoveAll(r.Root)
}

// Env is the whole environment of the runtime: nothing of ours passes. path
// are folders that stand before those of the system.
func (r *Rooms) Env(path ...string) []string {
	p := r.Bin + string(os.PathListSeparator)
	var pSb60 strings.Builder
	for _, dir := range path {
		pSb60.WriteString(dir + string(os.PathListSeparator))
	}
	p += pSb60.String()
	return []string{
		"PATH=" + p + "/usr/local/bin:/usr/bin:/bin",
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
