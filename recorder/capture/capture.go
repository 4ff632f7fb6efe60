// Package capture makes a case of lines that another tool recorded, or of a live session
// of the user's own runtime. It is not part of the stable interface.
//
// The model was not scripted, so the case has no witness, and its head says so. The
// lines are redacted like those of any recording. If the lint still finds something
// that must not be published, no case is made.
package capture

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/turnspec/turnspec/fixtures"
	wirelines "github.com/turnspec/turnspec/fixtures/wire"
	"github.com/turnspec/turnspec/recorder/redact"
	"github.com/turnspec/turnspec/recorder/registry"
)

// Head is the head of the case.
type Head struct {
	Name             string // its scenario, such as imported/first-try
	Runtime, Version string
	Recorded         string // the source of the lines
}

var (
	homes = regexp.MustCompile(`(?:/home|/Users)/([A-Za-z0-9._-]+)`)
	cwds  = regexp.MustCompile(`"cwd"\s*:\s*"(/[^"\\]+)"`)
	// temps matches the folders for temporary files of macOS, which have random names
	// for each user, with and without the link /private.
	temps = regexp.MustCompile(`(?:/private)?/var/folders/[A-Za-z0-9_+-]+/[A-Za-z0-9_+-]+(?:/[TC]\b)?|/private/(?:var/)?tmp\b`)
)

// Elsewhere returns the facts of the machine where lines were recorded, as far as
// the lines contain them: homes, working directory, user and folders for temporary
// files.
func Elsewhere(wire []fixtures.WireLine) redact.Facts {
	f := redact.Facts{UID: -1, Tmp: "/tmp", Paths: map[string]string{}}
	for _, l := range wire {
		for _, m := range homes.FindAllSubmatch(l.Bytes, -1) {
			switch home := string(m[0]); {
			case f.Home == "":
				f.Home, f.User = home, string(m[1])
			case home != f.Home:
				f.Paths[home] = "home-of-another"
			}
		}
		for _, m := range temps.FindAll(l.Bytes, -1) {
			f.Paths[string(m)] = "tmp"
		}
		if m := cwds.FindSubmatch(l.Bytes); m != nil && f.Work == "" && path.Clean(string(m[1])) != "/" {
			f.Work = string(m[1])
		}
	}
	return f
}

// Make returns the file of a case. It rewrites the lines.
func Make(h Head, facts redact.Facts, wire []fixtures.WireLine) ([]byte, error) {
	if len(wire) == 0 {
		return nil, errors.New("there are no lines to make a case of")
	}
	rt, err := registry.Get(h.Runtime)
	if err != nil {
		return nil, err
	}
	if !rt.ProcessPerTurn {
		endLast(wire)
	}
	repliesFirst(rt.Wire, wire)
	r, err := redact.New(facts)
	if err != nil {
		return nil, err
	}
	c := &fixtures.Case{
		ID: path.Join(h.Runtime, h.Version, h.Name), Scenario: h.Name,
		Runtime: h.Runtime, Version: h.Version, Recorded: h.Recorded, NoWitness: true, Wire: wire,
	}
	if err := r.Case(c); err != nil {
		return nil, err
	}
	b, err := c.Format()
	if err != nil {
		return nil, err
	}
	if _, err := fixtures.ParseCase(c.ID+".txtar", c.ID, b); err != nil {
		return nil, fmt.Errorf("the loader rejects the case: %w", err)
	}
	if found := redact.Lint(b); len(found) > 0 {
		var lines []string
		for _, f := range found[:min(len(found), 5)] {
			lines = append(lines, f.String())
		}
		return nil, fmt.Errorf("%d texts in it must not be published and were not redacted; remove them from the lines:\n\t%s", len(found), strings.Join(lines, "\n\t"))
	}
	return b, nil
}

// endLast moves the end of stdin behind the output if the client wrote all that it had and
// closed stdin, as a shell does. Other clients close it when they have seen the end.
func endLast(lines []fixtures.WireLine) {
	i := slices.IndexFunc(lines, func(l fixtures.WireLine) bool { return l.Dir == fixtures.EOF })
	if i < 1 || lines[i-1].Dir != fixtures.In {
		return
	}
	for ; i+1 < len(lines) && lines[i+1].Dir != fixtures.Exit; i++ {
		lines[i], lines[i+1] = lines[i+1], lines[i]
		lines[i+1].T = lines[i].T
	}
}

// repliesFirst moves each reply before the lines that the client wrote without waiting for it.
// Another client, which waits for the reply before it writes the next line, would wait forever.
func repliesFirst(rt *wirelines.Runtime, lines []fixtures.WireLine) {
	for i := range lines {
		reply := lines[i].Read(rt)
		if lines[i].Dir != fixtures.Out || reply.Kind != wirelines.Reply {
			continue
		}
		for j := i - 1; j >= 0 && lines[j].Dir == fixtures.In; j-- {
			if string(lines[j].Read(rt).ID) != string(reply.RepliesTo) {
				continue
			}
			if l := lines[i]; j+1 < i {
				l.T = lines[j].T
				copy(lines[j+2:i+1], lines[j+1:i])
				lines[j+1] = l
			}
			break
		}
	}
}

// Guess returns the runtime and the version that the lines name, or "".
func Guess(wire []fixtures.WireLine) (runtime, version string) {
	for _, l := range wire {
		for _, r := range registry.All() {
			if r.VersionIn == nil {
				continue
			}
			if m := r.VersionIn.FindSubmatch(l.Bytes); m != nil {
				return r.Wire.Name, string(m[1])
			}
		}
	}
	for _, r := range registry.All() {
		if r.SessionIn != nil && slices.ContainsFunc(wire, func(l fixtures.WireLine) bool { return r.SessionIn.Match(l.Bytes) }) {
			return r.Wire.Name, ""
		}
	}
	return "", ""
}
