package sidecar

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/backend/eventlog"
	"github.com/turnspec/turnspec/adapters/backend/eventlog/window"
	"github.com/turnspec/turnspec/adapters/backend/replay"
)

const (
	// transcriptBytes is how much of an earlier session a new one is told; older messages are left out.
	transcriptBytes = 64 << 10
	// transcriptMessages is how many of its messages at most.
	transcriptMessages = 500
	// transcriptOutput is how much of the output of a tool.
	transcriptOutput = 500
)

// continueSession lets a session go on with what another one holds: its transcript becomes part of the
// instructions, and its folder and mode count if the request names none.
func (s *Server) continueSession(ctx context.Context, o *adapters.Options, b *opening) error {
	from := b.Params.TranscriptOf
	if from == "" {
		return nil
	}
	if err := cmp.Or(checkID(from), s.checkOwner(ctx, from)); err != nil {
		return err
	}
	info, err := s.c.Log.Session(ctx, from)
	if err != nil {
		return err
	}
	var earlier leftOpen
	for e, err := range eventlog.All(ctx, s.c.Log, from, 0) {
		if err != nil {
			return err
		}
		earlier.add(e)
	}
	o.Dir = cmp.Or(b.Params.WorkingDir, earlier.dir, o.Dir)
	if info.Runtime == b.Runtime { // the modes of another runtime may be others
		o.Mode = cmp.Or(modes[b.Params.PermissionMode], b.Params.PermissionMode, earlier.mode, o.Mode)
	}
	win, err := window.Open(ctx, s.c.Log, from, transcriptMessages)
	if err != nil {
		return err
	}
	text := transcriptOf(win.Messages())
	if text == "" {
		return nil
	}
	intro := fmt.Sprintf("This conversation began in another session, on %s. Its transcript follows. The user takes it as the beginning of this conversation: go on from there, and do not repeat it.", info.Runtime)
	o.Instructions = strings.TrimPrefix(o.Instructions+"\n\n"+intro+"\n<transcript>\n"+text+"</transcript>", "\n\n")
	return nil
}

// transcriptOf returns the newest messages as text, in order.
func transcriptOf(messages []*replay.Message) string {
	var parts []string
	size := 0
	for _, m := range slices.Backward(messages) {
		part := strings.ReplaceAll(transcriptOfMessage(m), "</transcript", "&lt;/transcript")
		if size += len(part); size > transcriptBytes {
			if len(parts) == 0 { // the newest message alone is longer
				parts = append(parts, "… "+strings.ToValidUTF8(part[len(part)-transcriptBytes:], ""))
			}
			parts = append(parts, "(Older messages are left out.)\n")
			break
		}
		parts = append(parts, part)
	}
	slices.Reverse(parts)
	return strings.Join(parts, "")
}

func transcriptOfMessage(m *replay.Message) string {
	var out strings.Builder
	for _, a := range m.Attachments {
		fmt.Fprintf(&out, "%s: (attached %s %s)\n", m.Role, a.Kind, cmp.Or(a.Name, a.Path))
	}
	for _, block := range m.Blocks {
		switch block.Kind {
		case replay.KindText:
			fmt.Fprintf(&out, "%s: %s\n", m.Role, block.Text)
		case replay.KindTool:
			output := strings.TrimSpace(block.Tool.Output)
			if len(output) > transcriptOutput {
				output = strings.ToValidUTF8(output[:transcriptOutput], "") + " …"
			}
			fmt.Fprintf(&out, "%s: (called %s %s; %s: %s)\n", m.Role, block.Tool.Name, cmp.Or(block.Tool.Command, block.Tool.FilePath, string(block.Tool.Input)), block.Status, output)
		}
	}
	return out.String()
}
