package replay

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/turnspec/turnspec/adapters/event"
)

// RenderOptions configure Render. The zero value prints plain text with reasoning
// and tool output cut.
type RenderOptions struct {
	Color    bool // ANSI colours
	Thinking bool // reasoning in full
	Output   bool // tool output in full
}

// Render prints the chat as text. It replaces control characters by visible ones,
// so that a tool's output cannot control the terminal.
func (c *Chat) Render(w io.Writer, o RenderOptions) error {
	p := &printer{o: o}
	for i := range c.Messages {
		p.writeMessage(&c.Messages[i])
	}
	for _, part := range c.Components {
		p.markf(dim, "component %s %s on %s", part.ID, part.Name, part.Surface)
	}
	if len(c.Queue) > 0 {
		p.markf(dim, "waiting: %s", strings.Join(c.Queue, ", "))
	}
	switch c.Status {
	case Running:
		p.markf(dim, "%s …", c.Activity)
	case Waiting:
		p.markf(yellow, "waiting for the user")
	case Ended:
		p.markf(dim, "session ended%s%s", withColon(c.EndReason), exitSuffix(c.ExitCode))
	}
	_, err := w.Write(p.b.Bytes())
	return err
}

// ANSI codes.
const (
	bold   = "1"
	dim    = "2"
	red    = "31"
	yellow = "33"
	cyan   = "36"
)

// foldRunes is the maximal length of a folded line.
const foldRunes = 100

type printer struct {
	o        RenderOptions
	b        bytes.Buffer
	indent   string
	lastKind string // kind of the last line: "text", "mark" or "" before the first
}

// separate writes a blank line, except between two marks and at the start.
func (p *printer) separate(next string) {
	if p.lastKind != "" && (p.lastKind != "mark" || next != "mark") {
		p.b.WriteByte('\n')
	}
	p.lastKind = next
}

func (p *printer) writeLine(color, text string) {
	if text == "" {
		p.b.WriteByte('\n')
		return
	}
	p.b.WriteString(p.indent)
	if p.o.Color && color != "" {
		text = "\x1b[" + color + "m" + text + "\x1b[0m"
	}
	p.b.WriteString(text)
	p.b.WriteByte('\n')
}

func (p *printer) writeText(color, prefix, text string) {
	text = strings.Trim(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	if strings.TrimSpace(text) == "" {
		return
	}
	p.separate("text")
	for l := range strings.SplitSeq(text, "\n") {
		p.writeLine(color, strings.TrimRight(prefix+showControls(l), " "))
	}
}

func (p *printer) markf(color, format string, args ...any) {
	p.separate("mark")
	p.writeLine(color, "["+showControls(fmt.Sprintf(format, args...))+"]")
}

func (p *printer) writeMessage(m *Message) {
	if m.Role == RoleUser {
		p.writeText(bold, "> ", m.Text())
		for _, a := range m.Attachments {
			p.markf(bold, "attachment %s%s", a.Kind, withColon(cmp.Or(a.Name, a.Path, a.URL)))
		}
		return
	}
	if m.Cause != "" {
		p.markf(dim, "turn begun by %s", m.Cause)
	}
	p.writeBlocks(m.Blocks)
	switch {
	case m.Status == Stopped:
		p.markf(yellow, "stopped%s%s", withColon(m.Reason), exitSuffix(m.ExitCode))
	case m.Error != nil:
		p.markf(red, "failed: %s: %s", m.Error.Code, m.Error.Message)
	case m.Status == Failed:
		p.markf(red, "failed")
	}
}

func (p *printer) writeBlocks(blocks []Block) {
	for i := range blocks {
		p.writeBlock(&blocks[i])
	}
}

func (p *printer) writeBlock(b *Block) {
	switch b.Kind {
	case KindText:
		p.writeText("", "", b.Text)
		if b.Status == Interrupted {
			p.markf(yellow, "interrupted")
		}
	case KindThinking:
		if p.o.Thinking {
			p.writeText(dim, "~ ", b.Text)
		} else {
			p.markf(dim, "thinking: %s", foldLine(b.Text))
		}
	case KindTool:
		p.writeTool(b)
	case KindSubagent:
		p.writeSubagent(b)
	case KindPermission:
		p.markf(yellow, "permission %s → %s%s", withSubject(b.Permission.Tool, string(b.Permission.Input)), b.Status, bySuffix(b.Permission.By))
	case KindInterrupt:
		p.markf(yellow, "question %s → %s%s%s", withSubject(b.Interrupt.Component, string(b.Interrupt.Props)), b.Status,
			bySuffix(b.Interrupt.By), withColon(foldLine(string(b.Interrupt.Value))))
	case KindPlan:
		p.markf(cyan, "plan")
		for _, s := range b.Steps {
			p.writeLine(cyan, "  "+stepMark(s.Status)+" "+showControls(foldLine(s.Text)))
		}
	case KindNotice:
		color := dim
		if b.Notice.Level != event.LevelInfo {
			color = yellow
		}
		p.markf(color, "%s %s%s", b.Notice.Level, b.Notice.Code, withColon(foldLine(b.Text)))
	case KindCompaction:
		p.markf(dim, "compaction → %s", b.Status)
	case KindComponent:
		p.markf(cyan, "component %s → %s%s", withSubject(b.Component.Name, string(b.Component.Props)), b.Status, withColon(foldLine(b.Component.Error)))
	case KindError: // printed at the end of the message or sub-agent
	case KindCheckpoint:
		p.markf(dim, "checkpoint %s → %s", b.ID, b.Status)
	default:
		p.markf(dim, "%s%s", b.Kind, withColon(foldLine(b.Text)))
	}
}

func (p *printer) writeTool(b *Block) {
	t := b.Tool
	about := cmp.Or(t.Command, t.Subagent, t.Query, t.URL, t.Pattern, t.FilePath, t.SearchPath)
	if about == "" && len(t.Changes) > 0 {
		paths := make([]string, len(t.Changes))
		for i, c := range t.Changes {
			paths[i] = string(c.Kind) + " " + c.Path
		}
		about = strings.Join(paths, ", ")
	}
	color := cyan
	if b.Status == Failed || b.Status == Denied || b.Status == Interrupted {
		color = red
	}
	p.markf(color, "tool %s → %s%s", withSubject(t.Name, cmp.Or(about, string(t.Input))), b.Status, exitSuffix(t.ExitCode)+cutSuffix(t.Truncated))
	if p.o.Output && strings.TrimSpace(t.Output) != "" {
		for l := range strings.SplitSeq(strings.Trim(t.Output, "\n"), "\n") {
			p.writeLine(dim, strings.TrimRight("  | "+showControls(strings.TrimSuffix(l, "\r")), " "))
		}
	}
	for _, m := range t.Media {
		p.writeLine(dim, fmt.Sprintf("  | %s %s, %d bytes", m.Kind, showControls(m.MIME), m.Size))
	}
	p.writeBlocks(b.Blocks)
}

func (p *printer) writeSubagent(b *Block) {
	p.markf(cyan, "subagent %s → %s%s", cmp.Or(b.Subagent.Name, b.ID), b.Status, withColon(foldLine(b.Text)))
	before := p.indent
	p.indent += "    "
	p.writeBlocks(b.Blocks)
	if b.Error != nil {
		p.markf(red, "failed: %s: %s", b.Error.Code, b.Error.Message)
	}
	p.indent = before
}

func stepMark(s event.StepStatus) string {
	switch s {
	case event.StepCompleted:
		return "[x]"
	case event.StepInProgress:
		return "[>]"
	}
	return "[ ]"
}

func withSubject(name, about string) string {
	if name == "" {
		name = "?"
	}
	if about == "" || about == "{}" {
		return name
	}
	return name + ": " + foldLine(about)
}

func withColon(s string) string {
	if s == "" {
		return ""
	}
	return ": " + s
}

func exitSuffix(code *int) string {
	if code == nil || *code == 0 {
		return ""
	}
	return fmt.Sprintf(" (exit %d)", *code)
}

func cutSuffix(cut bool) string {
	if cut {
		return " (output cut)"
	}
	return ""
}

func bySuffix(by event.By) string {
	if by == "" || by == event.ByWithdrawn {
		return ""
	}
	return " by " + string(by)
}

// foldLine returns a text on one line, cut to foldRunes.
func foldLine(s string) string {
	if len(s) > 8*foldRunes { // enough to fill the line without reading a megabyte
		s = strings.ToValidUTF8(s[:8*foldRunes], "") + " …"
	}
	runes := []rune(strings.Join(strings.Fields(s), " "))
	if len(runes) > foldRunes {
		return string(runes[:foldRunes-1]) + "…"
	}
	return string(runes)
}

// showControls replaces control characters by their pictures (U+2400…).
func showControls(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return r
		case r < ' ':
			return '\u2400' + r
		case r == 0x7f:
			return '\u2421'
		case r >= 0x80 && r < 0xa0:
			return '\ufffd'
		}
		return r
	}, s)
}
