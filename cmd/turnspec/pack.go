package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/turnspec/turnspec/fixtures"
)

// packedFile is the archive in the folder of a corpus that programs embed.
const packedFile = "corpus.packed"

func packCmd() *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "pack",
		Short: "Write the archive of the corpus that programs embed",
		Long: `Pack writes fixtures/corpus.packed from the scenarios, recordings and goldens in
fixtures. Programs and tests read the archive. Record, update and schema write it too;
pack is for files that were changed by hand, such as scenarios, or by a merge.`,
		Example: "  turnspec pack",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, err := corpusFolder(dir) // the archive may be broken, after a merge
			if err != nil {
				return err
			}
			return writePacked(cmd.OutOrStdout(), dir)
		},
	}
	cmd.Flags().StringVar(&dir, "corpus", "", "folder with scenarios and cases (default: fixtures, here or above)")
	return cmd
}

// writePacked writes the archive of a corpus, and prints its name if it changed.
func writePacked(out io.Writer, dir string) error {
	changed, err := fixtures.WritePacked(dir)
	if changed {
		fmt.Fprintln(out, filepath.Join(dir, packedFile))
	}
	return err
}

// packAgain writes the archive of a corpus on disk if it has one.
func packAgain(out io.Writer, dir string) error {
	if dir == "" {
		return nil
	}
	if _, err := os.Stat(filepath.Join(dir, packedFile)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return writePacked(out, dir)
}
