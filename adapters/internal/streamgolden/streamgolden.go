// Package streamgolden stores a line for each stream of messages that a test makes of the cases,
// and compares later streams with it.
//
// A folder has a file for each version of a runtime, with a line for each case:
//
//	text/plain 10 977 3f0d4b6e2a90c1d7 a1c6b1
//
// These are the case without its runtime and version, the number of messages, the bytes of the
// stream with a line end after each message, the first 16 digits of its SHA-256 in hexadecimal,
// and how often each type occurs. The file types.txt has the types that the letters mean; a new
// type is added at its end, so that lines that did not change stay as they are.
package streamgolden

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/turnspec/turnspec/adapters/event"
)

// Folder is a folder of goldens and the streams of the present code.
type Folder struct {
	Dir string
	// Show returns the command that writes the stream of a case.
	Show func(id string) string
	// TypeOf returns the type of a message: the member type if it is nil.
	TypeOf func(line []byte) string

	types   []string
	streams map[string]stream
}

// stream is what is stored of the messages of a case.
type stream struct {
	bytes  int
	hash   string
	counts map[string]int
}

const legend = "types.txt"

// Corpus has the stored events of cases.
type Corpus interface {
	GoldenEvents(id string) ([][]byte, error)
}

// Events returns the stored events of a case, none if its runtime has no reference adapter.
func Events(t *testing.T, c Corpus, id string) []event.Event {
	t.Helper()
	lines, err := c.GoldenEvents(id)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	out := make([]event.Event, len(lines))
	for i, line := range lines {
		if out[i], err = event.Decode(line); err != nil {
			t.Fatalf("%s: %v", id, err)
		}
	}
	return out
}

// Add adds the stream of a case. A line is a message without its line end.
func (f *Folder) Add(id string, lines [][]byte) {
	of := f.TypeOf
	if of == nil {
		of = typeOf
	}
	s := stream{counts: map[string]int{}}
	h := sha256.New()
	for _, line := range lines {
		h.Write(line)
		h.Write([]byte{'\n'})
		s.bytes += len(line) + 1
		s.counts[of(line)]++
	}
	s.hash = fmt.Sprintf("%.8x", h.Sum(nil))
	if f.streams == nil {
		f.streams = map[string]stream{}
	}
	f.streams[id] = s
}

// typeOf returns the member type of a message.
func typeOf(line []byte) string {
	if rest, ok := bytes.CutPrefix(line, []byte(`{"type":"`)); ok {
		if name, _, ok := bytes.Cut(rest, []byte(`"`)); ok {
			return string(name)
		}
	}
	var m struct {
		Type string `json:"type"`
	}
	_ = json.Unmarshal(line, &m) // a message without a type counts as one of the type ""
	return m.Type
}

// messages returns the number of messages.
func (s stream) messages() (n int) {
	for _, k := range s.counts {
		n += k
	}
	return n
}

// maxListed is how many differences Test lists.
const maxListed = 20

// Test fails t if the streams differ from the files. If update is set, it writes the files first; that
// needs all cases. command is the one that writes them, for the failure.
func (f *Folder) Test(t *testing.T, update, sampled bool, command string) {
	t.Helper()
	if update {
		if sampled {
			t.Fatal("-update needs all cases: run it without -race")
		}
		if err := f.Write(); err != nil {
			t.Fatal(err)
		}
	}
	differences, err := f.Compare(sampled)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(differences); n > 0 {
		t.Errorf("%s: %d streams differ; look at what `%s` changes\n%s", f.Dir, n, command, strings.Join(differences[:min(n, maxListed)], "\n"))
	}
}

// Compare returns the differences between the streams and the files. If sampled is set, lines of other
// cases are no difference.
func (f *Folder) Compare(sampled bool) ([]string, error) {
	want, err := f.read()
	if err != nil {
		return nil, err
	}
	var out []string
	for _, id := range sorted(f.streams) {
		got := f.streams[id]
		old, ok := want[id]
		switch {
		case !ok:
			out = append(out, fmt.Sprintf("%s has no line in %s", id, f.fileOf(id)))
		case old.hash != got.hash || old.bytes != got.bytes || f.countsOf(old) != f.countsOf(got):
			out = append(out, fmt.Sprintf("%s: the stream changed: %s; `%s` writes it", id, difference(old, got), f.Show(id)))
		}
	}
	for _, id := range sorted(want) {
		if _, ok := f.streams[id]; !ok && !sampled {
			out = append(out, fmt.Sprintf("%s has the line of a case that does not exist: %s", f.fileOf(id), id))
		}
	}
	return out, nil
}

// difference returns how the counts differ.
func difference(old, got stream) string {
	var out []string
	add := func(n, was int, what string) {
		if n != was {
			out = append(out, fmt.Sprintf("%d %s (was %d)", n, what, was))
		}
	}
	add(got.messages(), old.messages(), "messages")
	add(got.bytes, old.bytes, "bytes")
	names := append(sorted(old.counts), sorted(got.counts)...)
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		add(got.counts[name], old.counts[name], name)
	}
	if out == nil {
		return fmt.Sprintf("the same types and %d bytes, other contents or another order", got.bytes)
	}
	return strings.Join(out, ", ")
}

// Write replaces the files by those of the streams.
func (f *Folder) Write() error {
	if _, err := f.read(); err != nil {
		return err
	}
	if err := os.MkdirAll(f.Dir, 0o755); err != nil {
		return err
	}
	stale, err := filepath.Glob(filepath.Join(f.Dir, "*.txt"))
	if err != nil {
		return err
	}
	files := map[string][]byte{}
	for _, id := range sorted(f.streams) {
		s := f.streams[id]
		name := f.fileOf(id)
		files[name] = fmt.Appendf(files[name], "%s %d %d %s %s\n", withoutVersion(id), s.messages(), s.bytes, s.hash, f.countsOf(s))
	}
	var types strings.Builder
	for i, name := range f.types {
		fmt.Fprintf(&types, "%s %s\n", code(i), name)
	}
	files[filepath.Join(f.Dir, legend)] = []byte(types.String())
	for _, name := range sorted(files) {
		if err := os.WriteFile(name, files[name], 0o644); err != nil {
			return err
		}
	}
	for _, name := range stale {
		if files[name] == nil {
			if err := os.Remove(name); err != nil {
				return err
			}
		}
	}
	return nil
}

// read returns the streams of the files, and reads the legend.
func (f *Folder) read() (map[string]stream, error) {
	out := map[string]stream{}
	f.types = nil
	b, err := os.ReadFile(filepath.Join(f.Dir, legend))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for line := range strings.Lines(string(b)) {
		_, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		f.types = append(f.types, name)
	}
	files, err := filepath.Glob(filepath.Join(f.Dir, "*.txt"))
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		runtime, version, ok := strings.Cut(strings.TrimSuffix(filepath.Base(file), ".txt"), "-")
		if !ok {
			continue // the legend
		}
		b, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(string(b)) {
			id, s, err := f.parse(line)
			if err != nil {
				return nil, fmt.Errorf("%s: %w: %q", file, err, line)
			}
			out[runtime+"/"+version+"/"+id] = s
		}
	}
	return out, nil
}

// parse reads a line.
func (f *Folder) parse(line string) (string, stream, error) {
	s := stream{counts: map[string]int{}}
	fields := strings.Split(strings.TrimSuffix(line, "\n"), " ")
	if len(fields) != 5 {
		return "", s, errors.New("want CASE MESSAGES BYTES HASH TYPES")
	}
	messages, err := strconv.Atoi(fields[1])
	if err != nil {
		return "", s, err
	}
	if s.bytes, err = strconv.Atoi(fields[2]); err != nil {
		return "", s, err
	}
	s.hash = fields[3]
	for rest := fields[4]; rest != ""; {
		digits := strings.TrimLeft(rest, letters)
		i := f.indexOf(rest[:len(rest)-len(digits)])
		rest = strings.TrimLeft(digits, "0123456789")
		n, err := strconv.Atoi(digits[:len(digits)-len(rest)])
		if err != nil || i < 0 {
			return "", s, errors.New("the types cannot be read")
		}
		s.counts[f.types[i]] = n
	}
	if s.messages() != messages {
		return "", s, fmt.Errorf("%d messages, of the types %d", messages, s.messages())
	}
	return fields[0], s, nil
}

// indexOf returns the place of the type with these letters, or -1.
func (f *Folder) indexOf(letters string) int {
	for i := range f.types {
		if code(i) == letters {
			return i
		}
	}
	return -1
}

// countsOf returns how often each type occurs, in the order of the legend. It adds new types to it.
func (f *Folder) countsOf(s stream) string {
	for _, name := range sorted(s.counts) {
		if !slices.Contains(f.types, name) {
			f.types = append(f.types, name)
		}
	}
	var b strings.Builder
	for i, name := range f.types {
		if n := s.counts[name]; n > 0 {
			b.WriteString(code(i))
			b.WriteString(strconv.Itoa(n))
		}
	}
	return b.String()
}

const letters = "abcdefghijklmnopqrstuvwxyz"

// code returns the letters of a type: a to z, then aa, ab and so on.
func code(i int) string {
	if i < len(letters) {
		return letters[i : i+1]
	}
	return code(i/len(letters)-1) + code(i%len(letters))
}

// fileOf returns the file of a case's line.
func (f *Folder) fileOf(id string) string {
	parts := strings.SplitN(id, "/", 3)
	return filepath.Join(f.Dir, parts[0]+"-"+parts[1]+".txt")
}

// withoutVersion returns the id of a case without its runtime and version.
func withoutVersion(id string) string { return strings.SplitN(id, "/", 3)[2] }

// sorted returns the keys of a map in order.
func sorted[V any](m map[string]V) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}
