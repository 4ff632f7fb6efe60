// Command docs writes the documentation as static HTML: an index by reader, the
// Markdown pages of the repository, those that are written from Go and from stored results,
// a page for each check and one for each scenario.
// It is run in the folder of the repository, needs no network, and the pages load
// nothing from elsewhere.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
)

func main() {
	out := flag.String("out", "docs", "the folder to write")
	pictures := flag.Bool("pictures", false, "take the pictures of index.md again, with Chromium, Python and script (util-linux), and write no pages")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	var err error
	if *pictures {
		err = takePictures(ctx, pictureFolder)
	} else {
		err = run(ctx, os.Stdout, *out)
	}
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "docs:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, stdout io.Writer, out string) error {
	s, err := build(ctx, os.DirFS("."), examplesOf)
	if err != nil {
		return err
	}
	if err := s.write(out); err != nil {
		return err
	}
	_, err = fmt.Fprintf(stdout, "%d files in %s\n", len(s.files), out)
	return err
}

// build makes the whole site. examples returns the failure to show for a check, or ""
// if there is none.
func build(ctx context.Context, repository fs.FS, examples exampleSource) (*site, error) {
	s := newSite(repository)
	for _, add := range []func() error{
		func() error { return s.addMarkdown(ctx) },
		func() error { return s.addChecks(ctx, examples) },
		s.addScenarios,
	} {
		if err := add(); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// write replaces the folder by the site. It replaces no folder that holds something
// else.
func (s *site) write(dir string) error {
	old, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && len(old) == 0:
	case err != nil:
		return err
	default:
		if _, err := os.Stat(filepath.Join(dir, "style.css")); err != nil {
			return fmt.Errorf("%s holds other files than a site, so nothing was written: name another folder with --out", dir)
		}
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	for name, text := range s.files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, text, 0o644); err != nil {
			return err
		}
	}
	return nil
}
