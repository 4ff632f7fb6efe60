package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/recorder/registry"
	"github.com/turnspec/turnspec/recorder/runtimes"
)

func schemaCmd() *cobra.Command {
	var dir string
	var check, write bool
	cmd := &cobra.Command{
		Use:   "schema [RUNTIME[@VERSION]…]",
		Short: "Print what an installed runtime declares about its wire",
		Long: `Schema prints the messages, types, fields and values of a runtime's wire, one
declaration per line. Codex prints them itself, and opencode serves them, without
network. For ACP they are the schema of the SDK that the agent contains. For Claude
Code they are the published types of its SDK, from the npm registry, read with Node.

--write stores them beside the cases, --check compares them with the stored ones.
Without an argument, runtimes whose vendor publishes nothing are skipped.

Exit codes: 0 done or equal, 1 they differ, 2 they cannot be read.`,
		Example: `  turnspec schema codex
  turnspec schema claude@2.1.197 --write
  turnspec schema --check`,
		ValidArgsFunction: complete(runtimeNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				args = withSchema(cmd.ErrOrStderr())
			}
			ctx, stop := interruptible(cmd)
			defer stop()
			differ := false
			for _, arg := range args {
				name, version, _ := strings.Cut(arg, "@")
				rt, err := runtimes.Find("", name, version)
				if err != nil {
					return err
				}
				s, err := registry.ReadSchema(ctx, rt)
				if err != nil {
					return fmt.Errorf("%s %s: %w", rt.Name, rt.Version, err)
				}
				out, text := cmd.OutOrStdout(), s.Format()
				if !check && !write {
					if _, err := out.Write(text); err != nil {
						return err
					}
					continue
				}
				disk, corpus, err := corpusOnDisk(dir)
				if err != nil {
					return err
				}
				file := filepath.Join(disk, rt.Name, rt.Version, "schema.txt")
				if write {
					if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, text, 0o644)); err != nil {
						return err
					}
					fmt.Fprintln(out, "wrote", file)
					if err := packAgain(out, disk); err != nil {
						return err
					}
					continue
				}
				stored, err := corpus.Schema(rt.Name, rt.Version)
				switch {
				case errors.Is(err, fs.ErrNotExist):
					return fmt.Errorf("%w; `turnspec schema %s@%s --write` stores it", err, rt.Name, rt.Version)
				case err != nil:
					return err
				case bytes.Equal(stored, text):
					fmt.Fprintln(out, "same ", file)
				default:
					differ = true
					fmt.Fprintf(out, "DIFF  %s\n%s", file, conformance.Diff("stored", string(stored), "now", string(text)))
				}
			}
			if differ {
				return errFailed
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&dir, "corpus", "", "folder with scenarios and cases (default: fixtures, here or above)")
	f.BoolVar(&check, "check", false, "compare with the stored schema")
	f.BoolVar(&write, "write", false, "store it beside the cases")
	cmd.MarkFlagsMutuallyExclusive("check", "write")
	return cmd
}

// withSchema returns the pinned runtimes whose vendor publishes a schema, and prints
// which ones have none.
func withSchema(out io.Writer) []string {
	var names []string
	for _, name := range runtimes.Names() {
		if r, err := registry.Get(name); err == nil && r.ReadSchema == nil {
			fmt.Fprintf(out, "skip  %s: %v\n", name, registry.ErrNoSchema)
			continue
		}
		names = append(names, name)
	}
	return names
}
