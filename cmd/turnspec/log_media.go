package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/turnspec/turnspec/adapters/backend/eventlog"
	"github.com/turnspec/turnspec/adapters/event"
)

func logMediaCmd() *cobra.Command {
	var asJSON bool
	var folder string
	cmd := &cobra.Command{
		Use:   "media FILE [SESSION [HASH]]",
		Short: "List the images, sounds and documents of a session, or write one",
		Long: `Media lists the images, sounds and documents that the tools of a session gave, in
the order of the events that refer to them, with type, size and the hash of the
bytes. "no" below stored means that the log holds the reference only: the events were
appended without the bytes, or the medium was too large.

With HASH, or the beginning of one, media writes the bytes to stdout; with --to it
writes all that are stored as files into a folder, which it creates if needed.`,
		Example: `  turnspec log media chats.db
  turnspec log media chats.db s1 --json
  turnspec log media chats.db s1 4977 > dot.png
  turnspec log media chats.db s1 --to images`,
		Args:              cobra.RangeArgs(1, 3),
		ValidArgsFunction: completeSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 3 && (asJSON || folder != "") {
				return errors.New("--json and --to are for all media: leave out the hash")
			}
			return withLog(cmd, args[0], func(ctx context.Context, log eventlog.Log) error {
				session, err := sessionOf(ctx, log, args[0], args[1:min(len(args), 2)])
				if err != nil {
					return err
				}
				list, err := referredMedia(ctx, log, session)
				switch {
				case err != nil:
					return err
				case len(args) == 3:
					return writeMedium(ctx, cmd, log, session, list, args[2])
				case folder != "":
					return extractMedia(ctx, cmd, log, session, list, folder)
				case asJSON:
					return printJSON(cmd.OutOrStdout(), list)
				}
				table := [][]string{{"seq", "tool", "kind", "type", "bytes", "stored", "hash"}}
				for _, m := range list {
					stored := "no"
					if m.Stored {
						stored = "yes"
					}
					table = append(table, []string{
						strconv.FormatInt(m.Seq, 10), m.Tool, string(m.Kind), cmp.Or(m.MIME, "-"), strconv.FormatInt(m.Size, 10), stored, m.SHA256,
					})
				}
				return printTable(cmd.OutOrStdout(), table)
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().StringVar(&folder, "to", "", "write all stored media into this folder")
	return cmd
}

// mediaRow is a reference to a medium.
type mediaRow struct {
	Seq  int64  `json:"seq"` // of the event that refers to it
	Tool string `json:"tool,omitempty"`
	event.Media
	Stored bool `json:"stored"`
}

// referredMedia returns the media to which the events of a session refer, each reference once.
func referredMedia(ctx context.Context, log eventlog.Log, session string) ([]mediaRow, error) {
	stored, err := log.ListMedia(ctx, session)
	if err != nil {
		return nil, err
	}
	holds := map[string]bool{}
	for _, m := range stored {
		holds[m.SHA256] = true
	}
	rows, tools := []mediaRow{}, map[string]string{}
	for e, err := range eventlog.All(ctx, log, session, 0) {
		if err != nil {
			return nil, err
		}
		switch d := e.Data.(type) {
		case event.ToolStart:
			tools[d.ToolUseID] = d.Tool
		case event.ToolResult:
			for _, m := range d.Media {
				rows = append(rows, mediaRow{e.Seq, tools[d.ToolUseID], m, holds[m.SHA256]})
			}
		}
	}
	return rows, nil
}

// writeMedium writes the medium whose hash begins with a text to stdout.
func writeMedium(ctx context.Context, cmd *cobra.Command, log eventlog.Log, session string, list []mediaRow, hash string) error {
	var found *mediaRow
	for i, m := range list {
		if !strings.HasPrefix(m.SHA256, strings.ToLower(hash)) {
			continue
		}
		if found != nil && found.SHA256 != m.SHA256 {
			return fmt.Errorf("several media of session %q have a hash that begins with %s; write more of it", session, hash)
		}
		found = &list[i]
	}
	switch {
	case found == nil:
		return fmt.Errorf("no medium of session %q has a hash that begins with %s; `turnspec log media` lists them", session, hash)
	case isTerminal(cmd.OutOrStdout()):
		return errors.New("the terminal shows no media: write it to a file, as in > FILE")
	}
	_, data, err := log.Media(ctx, session, found.SHA256)
	if err != nil {
		return err
	}
	_, err = cmd.OutOrStdout().Write(data)
	return err
}

// extractMedia writes all stored media into a folder and prints the names of the files.
func extractMedia(ctx context.Context, cmd *cobra.Command, log eventlog.Log, session string, list []mediaRow, folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	written := map[string]bool{}
	for _, row := range list {
		if !row.Stored || written[row.SHA256] {
			continue
		}
		written[row.SHA256] = true
		m, data, err := log.Media(ctx, session, row.SHA256)
		if err != nil {
			return err
		}
		name := filepath.Join(folder, m.SHA256+extensionOf(m.MIME))
		if err := os.WriteFile(name, data, 0o600); err != nil {
			return err
		}
		fmt.Fprintln(cmd.OutOrStdout(), name)
	}
	return nil
}

// extensionOf returns the ending of a file of a MIME type.
func extensionOf(mime string) string {
	kind, _, _ := strings.Cut(mime, ";")
	extension := map[string]string{
		"image/png": ".png", "image/jpeg": ".jpg", "image/gif": ".gif", "image/webp": ".webp", "image/svg+xml": ".svg",
		"audio/wav": ".wav", "audio/x-wav": ".wav", "audio/mpeg": ".mp3", "audio/ogg": ".ogg", "application/pdf": ".pdf",
		"application/json": ".json", "text/plain": ".txt", "text/csv": ".csv",
	}[strings.ToLower(strings.TrimSpace(kind))]
	return cmp.Or(extension, ".bin")
}
