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

// Read reads the definitions of a workspace, ordered by file. If some files are
// wrong, it returns the agents of the others together with all errors, joined. A
// workspace without definitions is not an error.
func Read(f Form, workspace string) ([]Agent, error) {
	if err := f.Valid(); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(workspace)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	return readFolder(f, root.FS(), f.Dir(), true)
}

// readFolder reads the definitions in a folder; if deep, also hidden files and those
// in folders below it, as the runtimes do. If two files define the same name,
// the second is an error.
func readFolder(f Form, in fs.FS, dir string, deep bool) ([]Agent, error) {
	var files []string
	err := fs.WalkDir(in, dir, func(file string, e fs.DirEntry, err error) error {
		if file == dir && errors.Is(err, fs.ErrNotExist) {
			return fs.SkipAll
		}
		switch {
		case err != nil || file == dir:
			return err
		case e.IsDir() && !deep:
			return fs.SkipDir
		case !e.IsDir() && f.isDefinition(e.Name()) && (deep || e.Name()[0] != '.'):
			files = append(files, file)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var out []Agent
	var errs []error
	for _, file := range files {
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

// Prepared is what Prepare did with one template.
type Prepared struct {
	File string `json:"file"` // in the workspace
	Name string `json:"name"` // of the agent
	// Kept is empty if Prepare wrote the file. Else it is the file of the
	// workspace that was kept: the one of the same name, or another one that
	// defines the same agent.
	Kept string `json:"kept,omitempty"`
}

// Prepare copies the definitions in the folder dir of templates into a workspace. It
// never changes an existing file, and it does not copy an agent that the workspace
// defines already, even in a file with another name. If a template or a definition
// of the workspace is wrong, Prepare writes nothing, because a session would run
// without that agent.
//
// Prepare writes a file whole or not at all, even if two programs prepare the same
// workspace at once. It does not follow a link that leads out of the workspace.
func Prepare(f Form, workspace string, templates fs.FS, dir string) ([]Prepared, error) {
	if err := f.Valid(); err != nil {
		return nil, err
	}
	ours, err := readFolder(f, templates, dir, false)
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
	theirs, err := readFolder(f, root.FS(), f.Dir(), true)
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
			made, err := createFile(root, p.File, text)
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

// createFile writes a file unless it exists, and reports whether it did.
func createFile(root *os.Root, file string, text []byte) (made bool, err error) {
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
		return false, nil // another program was faster
	case err != nil:
		return false, err
	}
	return true, nil
}
