// Package capture answers one question: how does what somebody else recorded, or
// what a person's own runtime said, become a case?
//
// Nobody scripted the model then, so that there is no witness: the head of such
// a case says so. It is redacted as any recording is; what the lint still finds
// in it refuses it.
package capture

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/recorder/redact"
)

// Head is what stands in the head of the case.
type Head struct {
	Name             string // what happens, such as imported/first-try
	Runtime, Version string
	Recorded         string // where it comes from
}

// Here are the facts of this machine and its user, for a live recording.
func Here() redact.Facts {
	f := redact.Facts{UID: os.Getuid(), Tmp: os.TempDir()}
	f.Home, _ = os.UserHomeDir()
	f.Work, _ = os.Getwd()
	if u, err := user.Current(); err == nil {
		f.User = u.Username
	}
	f.Host, _ = os.Hostname()
	return f
}

var (
	homes = regexp.MustCompile(`(?:/home|/Users)/([A-Za-z0-9._-]+)`)
	cwds  = regexp.MustCompile(`"cwd":"(/[^"\\]+)"`)
)

// Elsewhere are the facts of the machine where lines were recorded, as the lines
// themselves tell them: its homes, working directory and user.
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
		if m := cwds.FindSubmatch(l.Bytes); m != nil && f.Work == "" && path.Clean(string(m[1])) != "/" {
			f.Work = string(m[1])
		}
	}
	return f
}

// Make turns lines into the file of a case. The lines are rewritten.
func Make(h Head, facts redact.Facts, wire []fixtures.WireLine) ([]byte, error) {
	if len(wire) == 0 {
		return nil, errors.New("there is no line to make a case of")
	}
	r, err := redact.New(facts)
	if err != nil {
		return nil, err
	}
	c := &fixtures.Case{
		ID: path.Join(h.Runtime, h.Version, h.Name), Scenario: h.Name,
		Runtime: h.Runtime, Version: h.Version, Recorded: h.Recorded, Unwitnessed: true, Wire: wire,
	}
	if err := r.Case(c); err != nil {
		return nil, err
	}
	b, err := c.Format()
	if err != nil {
		return nil, err
	}
	if _, err := fixtures.ParseCase(c.ID+".txtar", c.ID, b); err != nil {
		return nil, fmt.Errorf("the loader refuses what was made: %w", err)
	}
	if found := redact.Lint(b); len(found) > 0 {
		var lines []string
		for _, f := range found[:min(len(found), 5)] {
			lines = append(lines, f.String())
		}
		return nil, fmt.Errorf("%d things in it must not be published, even after they were looked for:\n\t%s", len(found), strings.Join(lines, "\n\t"))
	}
	return b, nil
}

// Guess finds runtime and version in lines that tell them.
func Guess(wire []fixtures.WireLine) (runtime, version string) {
	for _, l := range wire {
		if m := claudeVersion.FindSubmatch(l.Bytes); m != nil {
			return "claude", string(m[1])
		}
		if m := codexVersion.FindSubmatch(l.Bytes); m != nil {
			return "codex", string(m[1])
		}
	}
	if slices.ContainsFunc(wire, func(l fixtures.WireLine) bool { return strings.Contains(string(l.Bytes), `"session_id":`) }) {
		return "claude", ""
	}
	return "", ""
}

var (
	claudeVersion = regexp.MustCompile(`"claude_code_version":"([0-9][0-9A-Za-z.-]*)"`)
	codexVersion  = regexp.MustCompile(`"(?:cliVersion":"|userAgent":"[^"/]*/)([0-9][0-9A-Za-z.-]*)`)
)
