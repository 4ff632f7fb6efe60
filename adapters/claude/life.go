package claude

import (
	"context"
	"errors"
	"fmt"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
)

// What a client does to the session and not to its turn.

var (
	_ adapters.Rewinder    = (*chat)(nil)
	_ adapters.Compacter   = (*chat)(nil)
	_ adapters.Renamer     = (*chat)(nil)
	_ adapters.Transcriber = adapter{}
)

// checkpointVar makes the runtime keep copies of the files that it changes.
const checkpointVar = "CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING"

// compactCommand is the runtime's own command, sent as a message.
const compactCommand = "/compact"

// Transcribe implements adapters.Transcriber.
func (adapter) Transcribe(sessionID string, emit func(event.Event)) adapters.Transcript {
	return NewNormalizer(sessionID, emit)
}

type rewindOut struct {
	Subtype string `json:"subtype"`
	Message string `json:"user_message_id"`
	Dry     bool   `json:"dry_run,omitzero"`
}

type renameOut struct {
	Subtype string `json:"subtype"`
	Title   string `json:"title"`
}

// Rewind implements adapters.Rewinder.
func (c *chat) Rewind(ctx context.Context, messageID string, dry bool) (adapters.Rewound, error) {
	var out adapters.Rewound
	err := c.s.Do(ctx, func(answer func(error)) {
		c.p.ask(rewindOut{"rewind_files", wireUUID(c.p.o.SessionID, messageID), dry}, func(r *reply, err error) {
			switch {
			case err != nil:
			case r.Subtype != "success":
				err = errors.New(string(r.Error))
			case dry && !r.Response.CanRewind:
				err = errors.New(first(string(r.Response.Error), "the files cannot be put back"))
			default:
				out = adapters.Rewound{Insertions: int(r.Response.Insertions), Deletions: int(r.Response.Deletions)}
				for _, f := range r.Response.FilesChanged {
					out.Files = append(out.Files, string(f))
				}
				if !dry {
					c.p.h.Ledger().Session(event.Checkpoint{CheckpointID: messageID, Action: event.CheckpointRestored})
				}
			}
			if err != nil {
				err = fmt.Errorf("rewind: %w", err)
			}
			answer(err)
		})
	})
	if err != nil {
		return adapters.Rewound{}, err
	}
	return out, nil
}

// Compact implements adapters.Compacter. The runtime takes the command as a
// message; what comes of it is a turn without a message of the client.
func (c *chat) Compact(ctx context.Context) error {
	return c.s.Do(ctx, func(answer func(error)) {
		if c.p.h.Ledger().Turn() != nil || c.p.t.mail.pending() {
			answer(errors.New("compact: a turn is running"))
			return
		}
		uuid := newUUID()
		err := c.p.write(userOut{Type: "user", Message: messageOut{"user", []blockOut{textBlock(compactCommand)}}, UUID: uuid})
		if err == nil {
			c.p.t.mail.send(letter{uuid: uuid, command: true}, true)
		}
		answer(err)
	})
}

// Rename implements adapters.Renamer.
func (c *chat) Rename(ctx context.Context, name string) error {
	return c.s.Do(ctx, func(answer func(error)) {
		c.p.ask(renameOut{"rename_session", name}, func(r *reply, err error) {
			if err == nil && r.Subtype != "success" {
				err = fmt.Errorf("rename: %s", r.Error)
			}
			answer(err)
		})
	})
}
