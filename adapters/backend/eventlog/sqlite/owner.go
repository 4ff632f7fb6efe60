package sqlite

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/go-json-experiment/json"
	"github.com/gofrs/flock"
)

// ownerFile is what the name of a log's file is followed by in that of its owner. The first byte of the file
// is what is locked; behind it is an owner in JSON. The file stays when the log is closed, because a program
// that has opened it may be about to lock it.
const ownerFile = "-owner"

// owner is the program that runs the sessions of a file.
type owner struct {
	PID int    `json:"pid"`
	URL string `json:"url"`
}

// OwnedError is returned if another program runs the sessions of a file.
type OwnedError struct {
	Path string // of the log
	PID  int    // of the program, or 0 if it cannot be read
	URL  string // where clients reach it
}

func (e *OwnedError) Error() string {
	by := "another server"
	if e.PID != 0 {
		by = fmt.Sprintf("the server with pid %d at %s", e.PID, e.URL)
	}
	return fmt.Sprintf("%s: %s runs its sessions: use that one, end it first, or name another file", e.Path, by)
}

// Own makes this program the one that runs the sessions of the file, until Close, and records where its
// clients reach it. Call it before the sessions that an earlier program left behind are ended. If another
// log holds the file, also one of this program, Own returns an *OwnedError. A program that ends, in
// whatever way, owns the file no more.
func (l *Log) Own(url string) error { return l.own(url, (*flock.Flock).TryLock) }

// Share is like Own, but other programs may hold the file too if they call Share. Each of them must
// keep to the sessions that it opened, and end none of those that it finds in the file.
func (l *Log) Share(url string) error { return l.own(url, (*flock.Flock).TryRLock) }

// own locks the file of the owner, and writes the owner into it.
func (l *Log) own(url string, try func(*flock.Flock) (bool, error)) error {
	path, err := filepath.Abs(l.path)
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		return err
	}
	path += ownerFile
	lock := flock.New(path, flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o600))
	locked, err := try(lock)
	if err != nil {
		return fmt.Errorf("%s: lock: %w", path, err)
	}
	if !locked {
		other := readOwner(path)
		return errors.Join(&OwnedError{Path: l.path, PID: other.PID, URL: other.URL}, lock.Close())
	}
	if err := writeOwner(path, owner{PID: os.Getpid(), URL: url}); err != nil {
		return errors.Join(err, lock.Close())
	}
	l.ownerLock = lock
	return nil
}

// readOwner returns the owner that a file names. The zero owner stands for one that cannot be read.
func readOwner(path string) (o owner) {
	f, err := os.Open(path)
	if err != nil {
		return owner{}
	}
	defer func() { _ = f.Close() }()
	b := make([]byte, 4096)
	n, _ := f.ReadAt(b[1:], 1) // the first byte cannot be read on Windows
	if json.Unmarshal(b[1:1+n], &o) != nil {
		return owner{}
	}
	return o
}

func writeOwner(path string, o owner) error {
	b, err := json.Marshal(o)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(append(b, '\n'), 1)
	return errors.Join(err, f.Truncate(int64(len(b)+2)), f.Close())
}

// disown ends the ownership.
func (l *Log) disown() error {
	if l.ownerLock == nil {
		return nil
	}
	return l.ownerLock.Close()
}
