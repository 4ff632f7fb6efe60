package sqlite

import (
	"os"
	"slices"
	"sync"
)

// openFile is a file that this package has open besides SQLite, to flush it. It stays open until the last
// log of this program has closed it: if a program closes a file that it also has open elsewhere, it loses
// all its POSIX locks on it, those of SQLite too.
type openFile struct {
	*os.File
	info os.FileInfo
	logs int
}

var (
	openFilesMu sync.Mutex // is also held while a file is created
	openFiles   []*openFile
)

// keepOpen opens a file, or returns it if a log has it open.
func keepOpen(path string) (*openFile, error) {
	openFilesMu.Lock()
	defer openFilesMu.Unlock()
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	for _, f := range openFiles {
		if os.SameFile(f.info, info) {
			f.logs++
			return f, nil
		}
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	kept := &openFile{f, info, 1}
	openFiles = append(openFiles, kept)
	return kept, nil
}

// release closes the file if no other log needs it. The connections of the caller's log are closed.
func (f *openFile) release() error {
	openFilesMu.Lock()
	defer openFilesMu.Unlock()
	if f.logs--; f.logs > 0 {
		return nil
	}
	openFiles = slices.DeleteFunc(openFiles, func(o *openFile) bool { return o == f })
	return f.Close()
}
