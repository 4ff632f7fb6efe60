package agentfile

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
)

// Read reads the definitions of a workspace, in the order of their files. A
// workspace without any has none. What is wrong is told whole; the agents that
// are right are returned all the same.
func Read(f Form, workspace string) ([]Agent, error) {
	if err := f.Valid(); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(workspace)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	return read(f, root.FS(), f.Dir())
}

// read reads the definitions in a folder; a name that two files give is an error
// of the second.
func read(f Form, in fs.FS, dir string) ([]Agent, error) {
	entries, err := fs.ReadDir(in, dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []Agent
	var errs []error
	for _, e := range entries {
		if e.IsDir() || !f.isDefinition(e.Name()) {
			continue
		}
		file := path.Join(dir, e.Name())
		text, err := fs.ReadFile(in, file)
		if err != nil {
			errs = append(errs, &Error{file, 0, err})
			continue
		}
		a, err := Parse(f, file, text)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if i := slices.IndexFunc(out, func(b Agent) bool { return b.Name == a.Name }); i >= 0 {
			errs = append(errs, &Error{file, 0, fmt.Errorf("the name %s is taken by %s", a.Name, out[i].File)})
			continue
		}
		out = append(out, a)
	}
	return out, errors.Join(errs...)
}

// Prepared is what Prepare did with a file.
type Prepared struct {
	File string `json:"file"` // in the workspace
	Name string `json:"name"` // of the agent
	// Kept is empty where the file was written, else why the workspace's own was
	// left: its file, or the file of another name that defines the same agent.
	Kept string `json:"kept,omitempty"`
}

// Prepare copies the definitions in the folder dir of templates into a workspace,
// which it never changes otherwise: a file that is there stays as it is, and an
// agent that the workspace defines in a file of another name stays the only one
// of its name. Nothing is written where a template, or a file of the workspace,
// is wrong: its own session would run without that agent.
//
// A file is there whole or not at all, also where two programs prepare the same
// workspace. A link that leads out of the workspace is not followed.
func Prepare(f Form, workspace string, templates fs.FS, dir string) ([]Prepared, error) {
	if err := f.Valid(); err != nil {
		return nil, err
	}
	ours, err := read(f, templates, dir)
	if err != nil {
		return nil, err
	}
	if len(ours) == 0 {
		return nil, fmt.Errorf("no %s files in %s: nothing to prepare", f.Ext(), dir)
	}
	root, err := os.OpenRoot(workspace)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	theirs, err := read(f, root.FS(), f.Dir())
	if err != nil {
		return nil, err
	}
	var out []Prepared
	for _, a := range ours {
		p := Prepared{File: path.Join(f.Dir(), path.Base(a.File)), Name: a.Name}
		same := slices.IndexFunc(theirs, func(b Agent) bool { return b.Name == a.Name })
		switch _, err := root.Lstat(p.File); {
		case err == nil:
			p.Kept = p.File
		case !errors.Is(err, fs.ErrNotExist):
			return out, err
		case same >= 0:
			p.Kept = theirs[same].File
		default:
			text, err := fs.ReadFile(templates, a.File)
			if err != nil {
				return out, err
			}
			made, err := create(root, p.File, text)
			if err != nil {
				return out, err
			}
			if !made {
				p.Kept = p.File
			}
		}
		out = append(out, p)
	}
	return out, nil
}

// create writes a file that is not there, and reports whether it did.
func create(root *os.Root, file string, text []byte) (made bool, err error) {
	if err := root.MkdirAll(path.Dir(file), 0o755); err != nil {
		return false, err
	}
	part := path.Join(path.Dir(file), "."+path.Base(file)+"."+rand.Text()+".part")
	if err := root.WriteFile(part, text, 0o644); err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, root.Remove(part)) }()
	switch err := root.Link(part, file); {
	case errors.Is(err, fs.ErrExist):
		return false, nil // somebody else was faster
	case err != nil:
		return false, err
	}
	return true, nil
}
