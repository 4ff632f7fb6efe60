package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/turnspec/turnspec/adapters/backend/sidecar"
)

// usersEvery is how often the file of the users is read again.
const usersEvery = time.Second

// usersFile is the file with the users of a server.
type usersFile struct {
	path  string
	users sidecar.Users
	last  []byte // the text that was read last
}

// openUsers reads the file of the users.
func openUsers(path string) (*usersFile, error) {
	f := &usersFile{path: path}
	_, err := f.load()
	return f, err
}

// load reads the file, and replaces the users if it has changed.
func (f *usersFile) load() (changed bool, err error) {
	text, err := os.ReadFile(f.path)
	if err != nil {
		return false, err
	}
	if f.last != nil && bytes.Equal(text, f.last) {
		return false, nil
	}
	f.last = append([]byte{}, text...)
	if err := f.users.Load(text); err != nil {
		return false, fmt.Errorf("%s: %w", f.path, err)
	}
	return true, nil
}

// reloadOnChange loads the file again whenever it changes, until ctx is done. It reports each change, and each
// error once: until the file can be read, the users stay.
func (f *usersFile) reloadOnChange(ctx context.Context, errOut io.Writer) {
	tick := time.NewTicker(usersEvery)
	defer tick.Stop()
	reported := ""
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		changed, err := f.load()
		switch {
		case err != nil && err.Error() != reported:
			reported = err.Error()
			fmt.Fprintf(errOut, "turnspec: the users stay as they are: %v\n", err)
		case changed:
			fmt.Fprintf(errOut, "turnspec: %s has changed: %d tokens\n", f.path, f.users.Len())
		}
		if changed {
			reported = ""
		}
	}
}
