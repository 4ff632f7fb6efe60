package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/turnspec/turnspec/adapters/reference"
	"github.com/turnspec/turnspec/conformance/plug/starter"
)

func initCmd() *cobra.Command {
	p := starter.Project{Version: version}
	cmd := &cobra.Command{
		Use:   "init --lang LANGUAGE [DIR]",
		Short: "Write the files that connect an adapter to the suite",
		Long: `Init writes into the folder DIR (default: the current one): a plug, which connects
your adapter; a test that shows each case and each check as a test; a file of known failures;
and a workflow for GitHub. The languages are ` + strings.Join(starter.Languages(), ", ") + `.

Where there is one for the runtime (claude, and codex in TypeScript and Python), it
also writes a small adapter, so that everything runs at once: replace it by yours. It overwrites no file.`,
		Example: `  turnspec init --lang typescript
  turnspec init --lang python --runtime codex my-adapter`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := "."
			if len(args) > 0 {
				dir = args[0]
			}
			if p.Language == "" {
				return fmt.Errorf("--lang is missing: name the language of your adapter, %s", strings.Join(starter.Languages(), ", "))
			}
			if _, err := references(p.Runtime); err != nil {
				return err
			}
			files, next, err := p.Files()
			if err != nil {
				return err
			}
			if err := writeNew(dir, files); err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			for _, f := range files {
				fmt.Fprintln(out, filepath.Join(dir, filepath.FromSlash(f.Name)))
			}
			note := ""
			if version == "" || strings.HasPrefix(version, "0.0.0-") { // built from a clone, or by make dist
				next, note = insteadOfRelease(p.Language, next)
			}
			fmt.Fprintf(out, "\nNext, in %s:\n", dir)
			for _, command := range next {
				fmt.Fprintln(out, " ", command)
			}
			if note != "" {
				fmt.Fprintf(out, "\nThis turnspec is no release. %s\n", note)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&p.Language, "lang", "", "the language of the adapter: "+strings.Join(starter.Languages(), ", "))
	cmd.Flags().StringVar(&p.Runtime, "runtime", "claude", "the runtime that the adapter wraps")
	completeFlag(cmd, "lang", starter.Languages)
	completeFlag(cmd, "runtime", reference.Names)
	return cmd
}

// insteadOfRelease returns the commands that set a project up until there is a release, and where
// its packages come from. next are those with a release; the first of them installs.
func insteadOfRelease(language string, next []string) (commands []string, note string) {
	if language == "go" {
		return append([]string{
			"go mod init example.com/my-adapter  # if there is no go.mod",
			"go mod edit -replace github.com/turnspec/turnspec=../turnspec",
		}, next[1:]...), "../turnspec is a clone of it."
	}
	return next, "The packages that the first command names are those that\n`make dist` writes into dist, in a clone of Turnspec: install them from there."
}

// writeNew writes files below a folder. If one of them exists, it writes none.
func writeNew(dir string, files []starter.File) error {
	var exist []string
	for _, f := range files {
		if _, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(f.Name))); err == nil {
			exist = append(exist, f.Name)
		}
	}
	if len(exist) > 0 {
		return errors.New("these files exist already, so nothing was written: " + strings.Join(exist, ", "))
	}
	for _, f := range files {
		name := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(name, []byte(f.Content), 0o644); err != nil {
			return err
		}
	}
	return nil
}
