package drive

import (
	"context"

	"github.com/turnspec/turnspec/fixtures"
)

// PerMessage is the part of a Client whose runtime runs one process for each message: the
// process reads the message and exits after its turn, asks nothing and shows texts whole.
type PerMessage struct {
	Unsupported
	Driver *Driver
	Start  func(fixtures.Step) error // starts the process of a message

	queue   []fixtures.Step // messages that wait for the end of the turn
	message string          // of the last process
	ended   map[string]bool // turns, by their message
}

// Send implements Client. The runtime has no queue, so a message waits for the end of the
// turn.
func (p *PerMessage) Send(_ context.Context, s fixtures.Step) error {
	if s.What != "" {
		return p.Error("sends a message with a priority")
	}
	p.queue = append(p.queue, s)
	return p.Poll()
}

// Poll implements Poller. It starts a process for the next message when the one before it
// has exited.
func (p *PerMessage) Poll() error {
	if p.Driver.Alive() {
		return nil
	}
	if p.ended == nil {
		p.ended = map[string]bool{}
	}
	p.ended[p.message] = true
	if len(p.queue) == 0 {
		return nil
	}
	s := p.queue[0]
	p.queue = p.queue[1:]
	return p.Start(s)
}

// Spawn starts the process of a message and writes its text.
func (p *PerMessage) Spawn(s fixtures.Step, args, env []string) error {
	p.message = s.ID
	if err := p.Driver.Spawn(args, env); err != nil {
		return err
	}
	return p.Driver.WriteAll(s.Text)
}

// Asks implements Client.
func (p *PerMessage) Asks(string) bool { return false }

// ShowsInput implements Client.
func (p *PerMessage) ShowsInput(string) bool { return true }

// ShowsOutput implements Client.
func (p *PerMessage) ShowsOutput(string) bool { return false }

// Settled implements Client.
func (p *PerMessage) Settled(bool) bool { return true }

// TaskEnded implements Client.
func (p *PerMessage) TaskEnded(string) bool { return false }

// Idle implements Client.
func (p *PerMessage) Idle() bool { return !p.Driver.Alive() && len(p.queue) == 0 }

// Ended implements Client. A turn ends with its process, because the last lines of the turn
// come before.
func (p *PerMessage) Ended(message string) bool { return p.ended[message] }

// Texts implements Client. Texts come whole, after their reply, so that no hold after a part
// of one is reached. An empty one lets a hold before the first part be reached.
func (p *PerMessage) Texts() []*Text { return []*Text{{}} }
