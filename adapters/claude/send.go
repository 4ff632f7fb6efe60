package claude

import (
	"encoding/base64"
	"fmt"
	"os"
	"strings"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
)

// userOut is a user's message.
type userOut struct {
	Type      string     `json:"type"`
	SessionID string     `json:"session_id"`
	Message   messageOut `json:"message"`
	Parent    *string    `json:"parent_tool_use_id"`
	UUID      string     `json:"uuid"`
	Priority  string     `json:"priority,omitempty"`
}

type messageOut struct {
	Role    string     `json:"role"`
	Content []blockOut `json:"content"`
}

type blockOut struct {
	Type   string     `json:"type"`
	Text   *string    `json:"text,omitzero"` // always set in a text block, even if empty
	Source *sourceOut `json:"source,omitempty"`
}

type sourceOut struct {
	Type      string `json:"type"`
	MediaType string `json:"media_type,omitempty"`
	Data      string `json:"data,omitempty"`
	URL       string `json:"url,omitempty"`
}

// Send implements session.Protocol. The runtime decides, and reports, whether
// the message starts a turn, waits, or is put into the running one.
func (p *protocol) Send(m adapters.Message, reply func(error)) {
	uuid := wireUUID(p.o.SessionID, m.ID)
	content, err := messageBlocks(m)
	if err == nil {
		err = p.writeJSON(userOut{Type: "user", Message: messageOut{"user", content}, UUID: uuid, Priority: string(m.Priority)})
	}
	if err != nil {
		reply(fmt.Errorf("send: %w", err))
		return
	}
	p.t.queue.enqueue(queuedMessage{id: m.ID, uuid: uuid, text: m.Text, attachments: m.Attachments, priority: m.Priority}, p.h.Ledger().Turn() == nil)
	p.t.emitQueue()
	reply(nil)
}

// messageBlocks returns the blocks of a message. Images and documents are sent;
// other files are sent as references.
func messageBlocks(m adapters.Message) ([]blockOut, error) {
	blocks := []blockOut{}
	for i, a := range m.Attachments {
		b, err := attachmentBlock(a)
		if err != nil {
			return nil, fmt.Errorf("attachments[%d]: %w", i, err)
		}
		blocks = append(blocks, b)
	}
	if m.Text != "" || len(blocks) == 0 {
		blocks = append(blocks, textBlock(m.Text))
	}
	return blocks, nil
}

func textBlock(text string) blockOut { return blockOut{Type: "text", Text: &text} }

func attachmentBlock(a event.Attachment) (blockOut, error) {
	kind := ""
	switch {
	case a.Kind == "image", strings.HasPrefix(a.MIME, "image/"):
		kind = "image"
	case a.MIME == "application/pdf", strings.HasSuffix(a.Path, ".pdf"):
		kind, a.MIME = "document", "application/pdf"
	}
	switch {
	case kind != "" && a.Path != "":
		b, err := os.ReadFile(a.Path)
		if err != nil {
			return blockOut{}, err
		}
		return blockOut{Type: kind, Source: &sourceOut{Type: "base64", MediaType: mediaType(a), Data: base64.StdEncoding.EncodeToString(b)}}, nil
	case kind != "" && strings.HasPrefix(a.URL, "data:"):
		head, data, ok := strings.Cut(strings.TrimPrefix(a.URL, "data:"), ",")
		mime, encoded := strings.CutSuffix(head, ";base64")
		if !ok || !encoded {
			return blockOut{}, fmt.Errorf("url: want data:<type>;base64,<data>")
		}
		return blockOut{Type: kind, Source: &sourceOut{Type: "base64", MediaType: mime, Data: data}}, nil
	case kind != "" && a.URL != "":
		return blockOut{Type: kind, Source: &sourceOut{Type: "url", URL: a.URL}}, nil
	case a.Path != "":
		return textBlock("@" + a.Path), nil
	case a.URL != "":
		return textBlock(a.URL), nil
	}
	return blockOut{}, fmt.Errorf("needs a path or a URL")
}

func mediaType(a event.Attachment) string {
	if a.MIME != "" {
		return a.MIME
	}
	switch ext := strings.ToLower(a.Path[strings.LastIndexByte(a.Path, '.')+1:]); ext {
	case "jpg", "jpeg":
		return "image/jpeg"
	case "gif", "webp":
		return "image/" + ext
	}
	return "image/png"
}
