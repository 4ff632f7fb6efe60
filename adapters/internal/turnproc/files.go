package turnproc

import (
	"fmt"
	"mime"
	"os"
	"path/filepath"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/attachment"
	"github.com/turnspec/turnspec/adapters/proc"
)

// Files are what the program of a session takes only as files: a folder below the program's
// folder for temporary files. It must be used from one goroutine at a time.
type Files struct {
	parent string
	dir    string              // "": nothing was written
	paths  map[string][]string // of the attachments, by the id of the message
	owned  map[string][]string // those of them that Attach wrote
	n      int
}

// NewFiles returns the files of a session whose program has this environment.
func NewFiles(env []string) *Files {
	return &Files{parent: proc.Getenv(env, "TMPDIR"), paths: map[string][]string{}, owned: map[string][]string{}}
}

// Write writes a file and returns its path.
func (f *Files) Write(name string, data []byte) (path string, err error) {
	if f.dir == "" {
		if f.dir, err = os.MkdirTemp(f.parent, "turnspec-*"); err != nil {
			return "", err
		}
	}
	path = filepath.Join(f.dir, name)
	return path, os.WriteFile(path, data, 0o600)
}

// Attach writes the attachments of a message that have no path. It returns ErrUnsupported for
// one with neither a path nor a data URL.
func (f *Files) Attach(m *adapters.Message) error {
	var paths, owned []string
	for i, a := range m.Attachments {
		path := a.Path
		if path == "" {
			_, data, err := attachment.Bytes(a)
			if err == nil {
				path, err = f.Write(f.nameOf(a), data)
			}
			if err != nil {
				return fmt.Errorf("attachments[%d]: %w", i, err)
			}
			owned = append(owned, path)
		}
		paths = append(paths, path)
	}
	f.paths[m.ID], f.owned[m.ID] = paths, owned
	return nil
}

// nameOf returns a name for a new file, with an extension by which the program knows its type.
func (f *Files) nameOf(a event.Attachment) string {
	f.n++
	ext := filepath.Ext(a.Name)
	if known, err := mime.ExtensionsByType(a.MIME); ext == "" && err == nil && len(known) > 0 {
		ext = known[0]
	}
	return fmt.Sprintf("attachment-%d%s", f.n, ext)
}

// Paths returns the paths of the attachments of a message.
func (f *Files) Paths(message string) []string { return f.paths[message] }

// Release removes what Attach wrote for a message.
func (f *Files) Release(message string) {
	for _, path := range f.owned[message] {
		_ = os.Remove(path) // Remove removes the folder
	}
	delete(f.owned, message)
	delete(f.paths, message)
}

// Remove removes all files. A folder that cannot be removed stays where temporary files are
// removed from time to time.
func (f *Files) Remove() {
	if f.dir != "" {
		_ = os.RemoveAll(f.dir)
	}
}
