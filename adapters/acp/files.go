package acp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/internal/lenient"
)

// maxFile is the size up to which a file is read. Its content is one line of JSON.
const maxFile = 16 << 20

// The codes of errors for the agent.
const (
	codeInvalidParams = -32602
	codeNotFound      = -32002
)

// fileRequest are the parameters of fs/read_text_file and fs/write_text_file.
type fileRequest struct {
	Path    lenient.Str `json:"path"`
	Line    lenient.Num `json:"line"`  // the first one to read, from 1
	Limit   lenient.Num `json:"limit"` // of lines; 0: all
	Content lenient.Str `json:"content"`
}

// serveRequest starts to serve a request for a file or a terminal. It returns false if the
// client does not offer that.
func (c *client) serveRequest(method string, id, params jsontext.Value) bool {
	switch method {
	case "fs/read_text_file", "fs/write_text_file":
		if !c.offered.Files {
			return false
		}
		c.serveFile(method, id, lenient.Decode[fileRequest](params))
		return true
	case "terminal/create", "terminal/output", "terminal/wait_for_exit", "terminal/kill", "terminal/release":
		if !c.offered.Terminals {
			return false
		}
		c.serveTerminal(method, id, params)
		return true
	}
	return false
}

func (c *client) serveFile(method string, id jsontext.Value, r fileRequest) {
	path := string(r.Path)
	type input struct {
		Path    string `json:"file_path"`
		Content string `json:"content,omitempty"`
	}
	if method == "fs/read_text_file" {
		c.serve(id, adapters.Call{Tool: "Read", Input: lenient.Encode(input{Path: path})}, func() (func(), error) {
			text, err := readFile(c.folders(), path)
			return func() {
				c.answerRequest(id, struct {
					Content string `json:"content"`
				}{linesOf(text, int(r.Line), int(r.Limit))})
			}, err
		})
		return
	}
	c.serve(id, adapters.Call{Tool: "Write", Input: lenient.Encode(input{path, string(r.Content)})}, func() (func(), error) {
		err := writeFile(c.folders(), path, string(r.Content))
		return func() { c.answerRequest(id, struct{}{}) }, err
	})
}

// folders are the folders in which the agent may use files.
func (c *client) folders() []string { return append([]string{c.dir}, c.o.ExtraDirs...) }

// serve does work of the agent's, unless the Judge denies it or the turn that wants it has
// ended or is being stopped. If the Judge returns ask, the agent has decided: it asks the user
// before it sends the request. What work returns runs under the session's lock.
func (c *client) serve(id jsontext.Value, call adapters.Call, work func() (then func(), err error)) {
	turn := c.runningTurn()
	start := func() {
		if turn == 0 || c.runningTurn() != turn {
			c.refuseRequest(id, codeInvalidParams, "the turn has ended")
			return
		}
		c.host.Go(func(context.Context) func() {
			then, err := work()
			if err != nil {
				return func() { c.refuseWork(id, err) }
			}
			return then
		})
	}
	if c.o.Judge == nil || turn == 0 {
		start()
		return
	}
	if call.Dir == "" {
		call.Dir = c.dir
	}
	c.host.Go(func(ctx context.Context) func() {
		v := c.o.Judge.Decide(ctx, call)
		return func() {
			if v.Effect == adapters.EffectDeny {
				c.refuseRequest(id, codeInvalidParams, v.Reason)
				return
			}
			start()
		}
	})
}

// runningTurn is the number of the turn that runs and is not being stopped; 0: none.
func (c *client) runningTurn() int {
	sc := c.t.l.Turn()
	if sc == nil || c.t.stopped {
		return 0
	}
	return sc.Turn()
}

// refuseWork answers a request that has failed.
func (c *client) refuseWork(id jsontext.Value, err error) {
	code := codeInvalidParams
	if errors.Is(err, fs.ErrNotExist) {
		code = codeNotFound
	}
	c.refuseRequest(id, code, err.Error())
}

// openFolder opens that of the folders which holds path, and returns the path within it. Links
// are resolved first, so that one that leads out of the folders is refused.
func openFolder(folders []string, path string) (*os.Root, string, error) {
	if !filepath.IsAbs(path) {
		return nil, "", fmt.Errorf("%s: want an absolute path", path)
	}
	resolved, err := resolveLinks(filepath.Clean(path))
	if err != nil {
		return nil, "", err
	}
	for _, dir := range folders {
		base, err := filepath.EvalSymlinks(dir)
		if err != nil {
			continue // a folder that does not exist holds no file
		}
		if rel, err := filepath.Rel(base, resolved); err == nil && filepath.IsLocal(rel) {
			root, err := os.OpenRoot(base) // a link that is made from now on cannot lead out of it
			return root, rel, err
		}
	}
	return nil, "", fmt.Errorf("%s: outside the folders of the session", path)
}

// resolveLinks resolves the links in a path whose last elements may not exist.
func resolveLinks(path string) (string, error) {
	missing := ""
	for {
		resolved, err := filepath.EvalSymlinks(path)
		if err == nil {
			return filepath.Join(resolved, missing), nil
		}
		if _, lerr := os.Lstat(path); lerr == nil || !errors.Is(err, fs.ErrNotExist) {
			return "", err // a link that leads nowhere, for example
		}
		parent := filepath.Dir(path)
		if parent == path {
			return "", err
		}
		missing, path = filepath.Join(filepath.Base(path), missing), parent
	}
}

func readFile(folders []string, path string) (string, error) {
	root, rel, err := openFolder(folders, path)
	if err != nil {
		return "", err
	}
	defer func() { _ = root.Close() }() // nothing was written through it
	if err := checkRegular(root, rel); err != nil {
		return "", err
	}
	f, err := root.Open(rel)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }() // nothing was written to it
	b, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	switch {
	case err != nil:
		return "", err
	case len(b) > maxFile:
		return "", fmt.Errorf("%s: larger than %d bytes", path, maxFile)
	case !utf8.Valid(b):
		return "", fmt.Errorf("%s: not a text in UTF-8", path)
	}
	return string(b), nil
}

// checkRegular rejects what is no file, such as a folder, or a pipe, whose reader would wait.
func checkRegular(root *os.Root, name string) error {
	st, err := root.Stat(name)
	if err == nil && !st.Mode().IsRegular() {
		return fmt.Errorf("%s: not a file", name)
	}
	return err
}

func writeFile(folders []string, path, text string) error {
	root, rel, err := openFolder(folders, path)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // the file has been closed by then
	if err := checkRegular(root, rel); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if dir := filepath.Dir(rel); dir != "." {
		if err := root.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	return root.WriteFile(rel, []byte(text), 0o644)
}

// linesOf returns at most limit lines of a text from line first on, which counts from 1. With
// a limit of 0 it returns all of them.
func linesOf(text string, first, limit int) string {
	for ; first > 1 && text != ""; first-- {
		_, text, _ = strings.Cut(text, "\n")
	}
	if limit <= 0 {
		return text
	}
	end := 0
	for ; limit > 0 && end < len(text); limit-- {
		i := strings.IndexByte(text[end:], '\n')
		if i < 0 {
			return text
		}
		end += i + 1
	}
	return text[:end]
}
