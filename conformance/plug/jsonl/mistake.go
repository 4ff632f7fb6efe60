package jsonl

import (
	"fmt"
	"strings"

	"github.com/turnspec/turnspec/conformance"
)

// PlugError is what is wrong with a program, and what to do about it.
type PlugError struct {
	What   string // what was seen
	Do     string // what to do next
	Stderr string // the last that the program said there
}

func (m *PlugError) Error() string {
	s := m.What
	if m.Do != "" {
		s += "\nnext: " + m.Do
	}
	if m.Stderr != "" {
		s += "\nstderr: " + strings.ReplaceAll(m.Stderr, "\n", "\n        ")
	}
	return s
}

// Is makes a mistake a conformance.ErrBroken.
func (*PlugError) Is(target error) bool { return target == conformance.ErrProtocol }

const page = "conformance/plug/jsonl/PROTOCOL.md"

func notStarted(argv []string, err error) *PlugError {
	return &PlugError{
		What: fmt.Sprintf("the command %q could not be started: %v", strings.Join(argv, " "), err),
		Do:   "run it by hand in this folder; a program that is not in PATH needs its path, and a script its interpreter",
	}
}

func noHello(limit fmt.Stringer) *PlugError {
	return &PlugError{
		What: fmt.Sprintf("the program wrote no line within %v", limit),
		Do:   `write {"hello":{"protocol":1,"can":[]}} as the first line, at once, and flush stdout after each line`,
	}
}

func notHello(line []byte) *PlugError {
	return &PlugError{
		What: "the first line is no hello: " + clip(line),
		Do:   `write {"hello":{"protocol":1,"can":[]}} before anything else, and logs to stderr`,
	}
}

func noise(n int, line []byte, err error) *PlugError {
	return &PlugError{
		What: fmt.Sprintf("line %d of stdout is no JSON object: %s (%v)", n, clip(line), err),
		Do:   "stdout is for the protocol alone: print logs to stderr, and one JSON object a line, without line ends inside",
	}
}

func badLine(n int, line []byte, err error) *PlugError {
	return &PlugError{
		What: fmt.Sprintf("line %d of stdout: %v: %s", n, err, clip(line)),
		Do:   "a line has one member: hello, reply or event; " + page + " has an example of each",
	}
}

func badEvent(n int, line []byte, err error) *PlugError {
	return &PlugError{
		What: fmt.Sprintf("line %d of stdout: the event is not right: %v: %s", n, err, clip(line)),
		Do:   "adapters/event/schema.json describes each event",
	}
}

func badHello(format string, a ...any) *PlugError {
	return &PlugError{What: "hello: " + fmt.Sprintf(format, a...), Do: page + " lists what a hello may declare"}
}

func wrongID(id int, open []string) *PlugError {
	waits := "no command waits for one"
	if len(open) > 0 {
		waits = "what waits is " + strings.Join(open, ", ")
	}
	return &PlugError{
		What: fmt.Sprintf("a reply with id %d, and %s", id, waits),
		Do:   "reply once to each command, with the id of the command: {\"reply\":{\"id\":1}}",
	}
}

func noReply(c *command, limit fmt.Stringer) *PlugError {
	return &PlugError{
		What: fmt.Sprintf("no reply to %s (id %d) within %v", c.Do, c.ID, limit),
		Do: fmt.Sprintf(`write {"reply":{"id":%d}} when it is done, or {"reply":{"id":%d,"error":{"code":"unsupported","message":"…"}}}; `+
			"commands come while a turn runs too: do not wait for its end before you read on", c.ID, c.ID),
	}
}

func ended(how, doing string) *PlugError {
	return &PlugError{
		What: fmt.Sprintf("the program ended (%s) while %s", how, doing),
		Do:   "it runs until its stdin is closed; what it said on stderr tells why it ended, if it said anything",
	}
}

func stays(limit fmt.Stringer) *PlugError {
	return &PlugError{
		What: fmt.Sprintf("the program still ran %v after close was answered and its stdin was closed", limit),
		Do:   "end when stdin is at its end, and end the runtime before",
	}
}

func clip(b []byte) string {
	const most = 200
	s := strings.ToValidUTF8(string(b), "\uFFFD")
	if len(s) > most {
		s = s[:most] + "…"
	}
	return s
}
