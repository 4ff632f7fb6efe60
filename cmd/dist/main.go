// Command dist builds what a release consists of: for each platform an archive, an
// npm package, a Python wheel and a list of the modules in the program (SBOM), for
// Linux a Debian package too, and a Homebrew formula and checksums. Equal sources and
// an equal Go make equal bytes, wherever and whenever it is run.
//
//	go run ./cmd/dist --out dist --version 1.2.3
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// release is what all files of a release share.
type release struct {
	Version string    // semantic, without a v: 1.2.3 or 0.0.0-dev.5
	Commit  string    // of the sources
	Time    time.Time // of the commit; that of each packed file
	Source  string    // the module's folder
	Out     string
}

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(os.Stderr, "dist:", err)
		}
		os.Exit(2)
	}
}

func run(args []string, out io.Writer) error {
	var r release
	var names, nfpm string
	f := flag.NewFlagSet("dist", flag.ContinueOnError)
	f.StringVar(&r.Version, "version", "", "version of the release, without a v (default: the tag of the commit, or 0.0.0-dev.N)")
	f.StringVar(&r.Out, "out", "dist", "folder to write, which is emptied")
	f.StringVar(&names, "targets", "", "platforms to build, such as linux/amd64,darwin/arm64 (default: all)")
	f.StringVar(&nfpm, "nfpm", "", "the program nfpm, which makes the Debian packages (default: none are made)")
	if err := f.Parse(args); err != nil {
		return err
	}
	chosen, err := chooseTargets(names)
	if err != nil {
		return err
	}
	if err := r.describe(); err != nil {
		return err
	}
	return r.build(chosen, nfpm, out)
}

var semantic = regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+(-[a-z]+\.[0-9]+)?$`)

// describe reads from git what the flags leave open.
func (r *release) describe() error {
	r.Source = "."
	var err error
	if r.Commit, err = git("rev-parse", "HEAD"); err != nil {
		return err
	}
	seconds, err := git("log", "-1", "--format=%ct")
	if err != nil {
		return err
	}
	n, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return err
	}
	r.Time = time.Unix(n, 0).UTC()
	if r.Version == "" {
		if tag, err := git("describe", "--tags", "--exact-match", "--match", "v*"); err == nil {
			r.Version = strings.TrimPrefix(tag, "v")
		} else if count, err := git("rev-list", "--count", "HEAD"); err == nil {
			r.Version = "0.0.0-dev." + count
		} else {
			return err
		}
	}
	if !semantic.MatchString(r.Version) {
		return fmt.Errorf("version %q: want 1.2.3, or 1.2.3-rc.4 for a version before it", r.Version)
	}
	return nil
}

func git(args ...string) (string, error) {
	out, err := exec.Command("git", args...).Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w", strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(out)), nil
}

// build writes the files of the release for the targets, and reports progress to out.
func (r *release) build(targets []target, nfpm string, out io.Writer) error {
	if err := os.RemoveAll(r.Out); err != nil {
		return err
	}
	for _, t := range targets {
		fmt.Fprintln(out, "building", t)
		binary, err := r.compile(t)
		if err != nil {
			return fmt.Errorf("%s: %w", t, err)
		}
		for _, write := range []func(target, []byte) error{r.writeArchive, r.writePlatformPackage, r.writeWheel, r.writeModules} {
			if err := write(t, binary); err != nil {
				return fmt.Errorf("%s: %w", t, err)
			}
		}
		if t.OS == "linux" && nfpm != "" {
			if err := r.writeDeb(t, nfpm); err != nil {
				return fmt.Errorf("%s: %w", t, err)
			}
		}
	}
	if err := r.writeMainPackage(targets); err != nil {
		return err
	}
	if err := r.writeFormula(targets); err != nil {
		return err
	}
	if err := errors.Join(r.writePlugPackage(), r.writePlugWheel()); err != nil {
		return err
	}
	return r.writeChecksums()
}

// write writes a file of the release.
func (r *release) write(name string, b []byte) error {
	file := filepath.Join(r.Out, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, b, 0o644)
}
