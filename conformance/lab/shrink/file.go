package shrink

import (
	"archive/zip"
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Files returns the files of a corpus with the smaller case, and a description.
func (r *Result) Files(about string) (map[string][]byte, error) {
	corpus, err := corpusOf(r.Scenario, r.Case)
	if err != nil {
		return nil, err
	}
	out := map[string][]byte{"README.txt": []byte(about)}
	for name, f := range corpus {
		out[name] = f.Data
	}
	return out, nil
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
