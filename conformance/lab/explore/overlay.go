package explore

import (
	"errors"
	"io/fs"
	"path"
	"testing/fstest"

	"github.com/turnspec/turnspec/fixtures"
)

// overlay returns a corpus that holds a scenario and its case, and the other files of
// below.
func overlay(below fixtures.Corpus, o *outcome) (fixtures.Corpus, error) {
	b, err := o.recorded.Format()
	if err != nil {
		return below, err
	}
	top := fstest.MapFS{
		path.Join("scenarios", o.scenario.ID) + ".txtar": {Data: o.text},
		o.recorded.ID + ".txtar":                         {Data: b},
	}
	return fixtures.Corpus{FS: layers{top, below.FS}, Root: below.Root}, nil
}

// layers is a file system whose first layers hide the files of the others.
type layers []fs.FS

// Open implements fs.FS.
func (l layers) Open(name string) (fs.File, error) {
	for _, one := range l {
		f, err := one.Open(name)
		if !errors.Is(err, fs.ErrNotExist) {
			return f, err
		}
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}
