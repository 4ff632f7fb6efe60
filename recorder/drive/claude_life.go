package drive

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/turnspec/turnspec/fixtures"
)

// claudePast is what the driver keeps of the sessions beyond a process.
type claudePast struct {
	raws
	sessions  []string          // opened, in order
	last      string            // uuid of the main agent's last line
	ends      map[string]string // message → uuid of the last line of its turn
	compacted int
}

// opened keeps the id of a session that the runtime tells.
func (p *claudePast) opened(c *claude, id string) {
	c.session = id
	if !slices.Contains(p.sessions, id) {
		p.sessions = append(p.sessions, id)
	}
}

func (p *claudePast) result(c *claude) {
	for id := range c.sent {
		if _, known := p.ends[id]; !known {
			p.ends[id] = p.last
		}
	}
}

// bury takes what an ended process left open for ended.
func (c *claude) bury() {
	c.past.raws = raws{}
	if c.past.ends == nil {
		c.past.ends = map[string]string{}
	}
	for id, uuid := range c.sent {
		if !c.done(id) {
			c.taken[uuid] = "cancelled"
		}
	}
	for task := range c.bg {
		c.bg[task] = true
	}
}

// claudeSessionN is the id of a session that is opened anew beside the first.
func claudeSessionN(n int) string {
	if n == 0 {
		return claudeSession
	}
	return fmt.Sprintf("00000000-0000-4000-8000-5e551%07d", n+1)
}

// sessionArgs say which session is opened.
func (c *claude) sessionArgs(a fixtures.Step) ([]string, error) {
	session, err := which(a, c.past.sessions, c.session)
	if err != nil {
		return nil, err
	}
	var args []string
	switch a.What {
	case "", "bare":
		c.session = claudeSessionN(len(c.past.sessions))
		return []string{"--session-id", c.session}, nil
	case "resume":
		args = []string{"--resume", session}
	case "fork":
		c.session = claudeSessionN(len(c.past.sessions))
		args = []string{"--resume", session, "--fork-session", "--session-id", c.session}
	default:
		return nil, errCannot("claude", "takes a session back from an archive")
	}
	if a.At != "" {
		args = append(args, "--resume-session-at", c.past.ends[a.At])
	}
	return args, nil
}

// compact is a message of the user, which the runtime takes for a command.
func (c *claude) compact() error {
	c.past.compacted++
	id := "compact" + strconv.Itoa(c.past.compacted)
	if c.cfg.claude.lifecycles {
		return c.send(id, "/compact", nil)
	}
	// Its turn begins, on this wire, when the work is done.
	u := claudeUser{Type: "user", UUID: messageUUID(id)}
	u.Message.Role, u.Message.Content = "user", "/compact"
	c.sent[id], c.taken[u.UUID] = u.UUID, "queued"
	return c.write(u)
}

func (c *claude) revert(string) error {
	return errCannot("claude", "takes turns out of a session that runs")
}

func (c *claude) rewind(message string, dry bool) error {
	uuid := messageUUID(message)
	return c.call(struct {
		Subtype string `json:"subtype"`
		Message string `json:"user_message_id"`
		Dry     bool   `json:"dry_run,omitzero"`
	}{"rewind_files", uuid, dry})
}

func (c *claude) archive() error { return errCannot("claude", "puts a session away") }

func (c *claude) name(text string) error {
	return c.call(struct {
		Subtype string `json:"subtype"`
		Title   string `json:"title"`
	}{"rename_session", text})
}

func (c *claude) raw(line string) error {
	return c.d.writeRaw(c.past.raws, strings.NewReplacer("SESSION", c.session).Replace(line))
}

// closing interrupts what runs: a runtime whose stdin is closed would finish it
// first.
func (c *claude) closing() error {
	if c.turns <= 0 || len(c.past.raws) > 0 {
		return nil
	}
	_, err := c.post(claudeInterrupt{"interrupt", false})
	return err
}
