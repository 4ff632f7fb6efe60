package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// packed is a file in an archive.
type packed struct {
	Name string
	Data []byte
	Exec bool
}

func (p packed) mode() os.FileMode {
	if p.Exec {
		return 0o755
	}
	return 0o644
}

// tarGz returns a compressed tar archive.
func tarGz(at time.Time, files []packed) ([]byte, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	w := tar.NewWriter(z)
	for _, f := range files {
		h := &tar.Header{Typeflag: tar.TypeReg, Name: f.Name, Size: int64(len(f.Data)), Mode: int64(f.mode()), ModTime: at, Format: tar.FormatPAX}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.Data); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// zipped returns a zip archive.
func zipped(at time.Time, files []packed) ([]byte, error) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	w.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.BestCompression) })
	for _, f := range files {
		h := &zip.FileHeader{Name: f.Name, Method: zip.Deflate, Modified: at}
		h.SetMode(f.mode())
		e, err := w.CreateHeader(h)
		if err != nil {
			return nil, err
		}
		if _, err := e.Write(f.Data); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// writeArchive writes the archive that people download: the program, its README and
// its licence.
func (r *release) writeArchive(t target, binary []byte) error {
	files := []packed{{t.program(), binary, true}}
	for _, name := range []string{"LICENSE", "README.md"} {
		b, err := os.ReadFile(filepath.Join(r.Source, name))
		if err != nil {
			return err
		}
		files = append(files, packed{Name: name, Data: b})
	}
	pack := tarGz
	if t.OS == "windows" {
		pack = zipped
	}
	b, err := pack(r.Time, files)
	if err != nil {
		return err
	}
	return r.write(r.archiveName(t), b)
}

func (r *release) archiveName(t target) string {
	if t.OS == "windows" {
		return r.file(t, ".zip")
	}
	return r.file(t, ".tar.gz")
}

// writeChecksums writes the file checksums.txt, which `sha256sum --check` reads.
func (r *release) writeChecksums() error {
	entries, err := os.ReadDir(r.Out)
	if err != nil {
		return err
	}
	var lines []string
	for _, e := range entries {
		if e.IsDir() {
			continue
		}
		sum, err := r.checksum(e.Name())
		if err != nil {
			return err
		}
		lines = append(lines, fmt.Sprintf("%s  %s\n", sum, e.Name()))
	}
	slices.Sort(lines)
	return r.write("checksums.txt", []byte(strings.Join(lines, "")))
}

func (r *release) checksum(name string) (string, error) {
	b, err := os.ReadFile(filepath.Join(r.Out, name))
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:]), nil
}
