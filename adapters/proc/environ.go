package proc

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Environ returns the environment of a child: env, or, if env is nil, what a child
// inherits. That is the environment of this process without the variables that configure
// Turnspec itself, because an agent that reads the token of the server that started it
// can open further sessions. Left out are
//
//   - names that begin with TURNSPEC_, except those that a stand-in reads;
//   - names that begin with PG, which are the settings of PostgreSQL clients, its password
//     among them;
//   - PORT, at which a server listens.
//
// A child that needs one of them gets it in env.
func Environ(env []string) []string {
	if env != nil {
		return env
	}
	return slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return ownSetting(name)
	})
}

// Getenv returns a variable of the environment that Environ returns. Of several entries
// the last counts.
func Getenv(env []string, name string) string {
	if env == nil {
		if ownSetting(name) {
			return ""
		}
		return os.Getenv(name)
	}
	value := ""
	for _, v := range env {
		if s, ok := strings.CutPrefix(v, name+"="); ok {
			value = s
		}
	}
	return value
}

// LookPath returns the first of the programs that is on the PATH of the environment that Environ
// returns, and the name of the first if none is.
func LookPath(env []string, names ...string) string {
	for _, name := range names {
		for _, dir := range filepath.SplitList(Getenv(env, "PATH")) {
			p := filepath.Join(dir, name)
			if st, err := os.Stat(p); err == nil && !st.IsDir() && st.Mode()&0o111 != 0 {
				return p
			}
		}
	}
	return names[0]
}

// standInSettings are the variables that stand-ins read (packages fakes/standin and
// fakes/relay). They are no secrets.
var standInSettings = []string{
	"TURNSPEC_CASE", "TURNSPEC_CASES", "TURNSPEC_SPEED", "TURNSPEC_STATE", "TURNSPEC_HTTP", "TURNSPEC_RELAY", "TURNSPEC_RELAY_NAME",
}

// ownSetting reports whether a variable configures Turnspec, and not the child.
func ownSetting(name string) bool {
	switch {
	case strings.HasPrefix(name, "TURNSPEC_"):
		return !slices.Contains(standInSettings, name)
	case strings.HasPrefix(name, "PG"):
		return true
	}
	return name == "PORT"
}
