package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/replay"
)

func chatCmd() *cobra.Command {
	var asJSON, full bool
	cmd := &cobra.Command{
		Use:   "chat [FILE]",
		Short: "Turn events into the chat that a user would see",
		Long: `Chat reads events, one JSON object a line, from a file or from stdin, and
prints the chat that they make. They may stand in any order: seq says theirs.
If one is wrong, its file and line are told and nothing is printed.`,
		Example: `  turnspec chat events.jsonl
  turnspec normalize claude transcript.jsonl | turnspec chat
  turnspec chat --full events.jsonl
  turnspec chat --json events.jsonl`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			in, name, err := input(cmd, args)
			if err != nil {
				return err
			}
			defer func() { _ = in.Close() }()
			events, err := readEvents(in, name)
			if err != nil {
				return err
			}
			chat := replay.Reduce(events)
			var b bytes.Buffer
			if asJSON {
				j, err := chat.JSON()
				if err != nil {
					return err
				}
				b.Write(append(bytes.TrimRight(j, "\n"), '\n'))
			} else if err := chat.Render(&b, replay.RenderOptions{Color: styleOf(cmd.OutOrStdout()).Color, Thinking: full, Output: full}); err != nil {
				return err
			}
			_, err = b.WriteTo(cmd.OutOrStdout())
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&full, "full", false, "print reasoning and the output of tools whole")
	cmd.MarkFlagsMutuallyExclusive("json", "full")
	return cmd
}

func readEvents(in io.Reader, name string) ([]event.Event, error) {
	decoder := event.NewDecoder(in)
	var out []event.Event
	for {
		e, err := decoder.Next()
		var bad *event.LineError
		switch {
		case errors.Is(err, io.EOF):
			return out, nil
		case errors.As(err, &bad):
			return nil, fmt.Errorf("%s:%d: %w", name, bad.Line, bad.Err)
		case err != nil:
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		out = append(out, e)
	}
}
