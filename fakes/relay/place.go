package relay

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/fixtures/wire/runtimes"
)

// A place is a folder with a stand-in and its socket: that of one Post, or one that stays, for
// a client that is started before the play and outlives it.

func programPath(place, name string) string { return filepath.Join(place, "bin", name) }
func settingsPath(place string) string      { return filepath.Join(place, "settings") }

// socketPath is of one runtime, so that a place may serve several.
func socketPath(place, name string) string { return filepath.Join(place, name+".s") }

// writeStandIn puts the stand-in into a place.
func writeStandIn(place, name string) error {
	if !ready {
		return errNotReady
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	script := fmt.Sprintf("#!/bin/sh\nexport %s=%s %s=%s\nexec %s \"$@\"\n",
		envSocket, shellQuote(socketPath(place, name)), envName, shellQuote(name), shellQuote(self))
	file := programPath(place, name)
	if old, err := os.ReadFile(file); err == nil && string(old) == script {
		return nil
	}
	fresh := fmt.Sprintf("%s.%d", file, os.Getpid()) // a client may be starting the old one
	return errors.Join(
		os.MkdirAll(filepath.Dir(file), 0o755), os.MkdirAll(settingsPath(place), 0o755),
		os.WriteFile(fresh, []byte(script), 0o755), os.Rename(fresh, file))
}

// Furnish makes a place, and returns the variables with which a client finds the stand-in of a
// runtime there. Between plays the stand-in exits at once.
func Furnish(place, name string, base []string) ([]string, error) {
	place, err := filepath.Abs(place)
	if err == nil {
		err = writeStandIn(place, name)
	}
	if err != nil {
		return nil, err
	}
	had := map[string]bool{}
	for _, e := range base {
		had[e] = true
	}
	var out []string
	for _, e := range environ(base, name, programPath(place, name), settingsPath(place)) {
		if !had[e] {
			out = append(out, e)
		}
	}
	return out, nil
}

// NewPostAt makes a post at a place that Furnish made. One play at a time may use it.
func NewPostAt(place, name string, l proc.Launcher, touched func()) (*Post, error) {
	place, err := filepath.Abs(place)
	if err == nil {
		err = os.MkdirAll(place, 0o755)
	}
	if err != nil {
		return nil, err
	}
	at := socketPath(place, name)
	if c, err := net.DialTimeout("unix", at, time.Second); err == nil {
		_ = c.Close()
		return nil, fmt.Errorf("another run plays at %s: wait for its end, or give this one, and the client, another folder", place)
	}
	_ = os.Remove(at) // a run that was killed may have left it
	dir, err := os.MkdirTemp(place, "play-")
	if err != nil {
		return nil, err
	}
	err = errors.Join(os.RemoveAll(settingsPath(place)), os.Mkdir(settingsPath(place), 0o755)) // files of the previous play
	if err == nil {
		var p *Post
		if p, err = newPost(place, dir, name, l, touched); err == nil {
			return p, nil
		}
	}
	return nil, errors.Join(err, os.RemoveAll(dir))
}

// Environ returns an environment in which a client finds a stand-in of the runtime with this
// program name: base, with the program's folder first in PATH, and with the variables that name
// the program and the runtime's folder of settings.
func Environ(base []string, name, program, settings string) []string {
	return environ(base, name, program, settings)
}

func environ(base []string, name, program, home string) []string {
	set := map[string]string{}
	if rt := runtimes.OfProgram(name); rt != nil {
		set[rt.HomeEnv] = home
		for _, v := range rt.ProgramEnv {
			set[v] = program
		}
	}
	path := ""
	out := make([]string, 0, len(base)+len(set)+1)
	for _, e := range base {
		name, value, _ := strings.Cut(e, "=")
		switch _, ours := set[name]; {
		case name == "PATH":
			path = value
		case !ours:
			out = append(out, e)
		}
	}
	for name, value := range set {
		if name != "" {
			out = append(out, name+"="+value)
		}
	}
	return append(out, strings.TrimSuffix("PATH="+filepath.Dir(program)+string(os.PathListSeparator)+path, string(os.PathListSeparator)))
}
