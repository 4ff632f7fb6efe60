package claude

import (
	"fmt"
	"unicode/utf8"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/attachment"
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
	Title  string     `json:"title,omitempty"` // of a document
	Text   *string    `json:"text,omitzero"`   // always set in a text block, even if empty
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

// messageBlocks returns the blocks of a message. The bytes of pictures and PDFs are sent, and
// those of any file that has no path; the model is given the path of other files.
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
	case attachment.IsPicture(a):
		kind = "image"
	case attachment.MediaType(a) == "application/pdf":
		kind = "document"
	}
	switch {
	case kind != "" && (a.Path != "" || attachment.IsData(a)):
		mime, data, err := attachment.Data(a)
		return blockOut{Type: kind, Source: &sourceOut{Type: "base64", MediaType: mime, Data: data}}, err
	case kind != "" && a.URL != "":
		return blockOut{Type: kind, Source: &sourceOut{Type: "url", URL: a.URL}}, nil
	case a.Path != "":
		return textBlock("@" + a.Path), nil
	case attachment.IsData(a):
		return textDocument(a)
	case a.URL != "":
		return textBlock(a.URL), nil
	}
	return blockOut{}, fmt.Errorf("needs a path or a URL")
}

// textDocument returns the document that a data URL holds as text. The model would take the URL
// itself for words of the user.
func textDocument(a event.Attachment) (blockOut, error) {
	mime, b, err := attachment.Bytes(a)
	if err != nil {
		return blockOut{}, err
	}
	if !utf8.Valid(b) {
		return blockOut{}, fmt.Errorf("%s is neither a picture, a PDF nor text: %w", mime, adapters.ErrUnsupported)
	}
	return blockOut{Type: "document", Title: a.Name, Source: &sourceOut{Type: "text", MediaType: "text/plain", Data: string(b)}}, nil
}
