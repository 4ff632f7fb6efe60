package shrink

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing/fstest"

	"github.com/turnspec/turnspec/fixtures"
)

// Files returns the files of a corpus with the smaller case, and a description.
func (r *Result) Files(about string) (map[string][]byte, error) {
	out, err := CorpusFiles(r.Scenario, r.Case)
	if err == nil {
		out["README.txt"] = []byte(about)
	}
	return out, err
}

// CorpusFiles returns the files of a corpus of a scenario and its case.
func CorpusFiles(scenario []byte, c *fixtures.Case) (map[string][]byte, error) {
	b, err := c.Format()
	return map[string][]byte{path.Join("scenarios", c.Scenario) + ".txtar": scenario, c.ID + ".txtar": b}, err
}

// Overlay returns a corpus that holds a scenario and its case, and the other files of below.
func Overlay(below fixtures.Corpus, scenario []byte, c *fixtures.Case) (fixtures.Corpus, error) {
	files, err := CorpusFiles(scenario, c)
	if err != nil {
		return below, err
	}
	top := fstest.MapFS{}
	for name, b := range files {
		top[name] = &fstest.MapFile{Data: b}
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

// Write writes files into a folder, or into a new zip archive if the name ends in .zip.
func Write(name string, files map[string][]byte) error {
	if !strings.HasSuffix(name, ".zip") {
		for file, data := range files {
			file = filepath.Join(name, filepath.FromSlash(file))
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				return err
			}
			if err := os.WriteFile(file, data, 0o644); err != nil {
				return err
			}
		}
		return nil
	}
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, file := range slices.Sorted(maps.Keys(files)) {
		w, err := z.Create(file)
		if err != nil {
			return err
		}
		if _, err := w.Write(files[file]); err != nil {
			return err
		}
	}
	if err := z.Close(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return os.WriteFile(name, b.Bytes(), 0o644)
}
