package acp

import (
	"errors"
	"fmt"
	"strings"

	acpsdk "github.com/coder/acp-go-sdk"

	"github.com/turnspec/turnspec/conformance/plug/jsonl"
)

func notStarted(argv []string, err error) *jsonl.PlugError {
	return &jsonl.PlugError{
		What: fmt.Sprintf("the agent %q could not be started: %v", strings.Join(argv, " "), err),
		Do:   "run it by hand in this folder; a program that is not in PATH needs its path, and a package of npm stands behind npx",
	}
}

func noReply(method string, limit fmt.Stringer) *jsonl.PlugError {
	return &jsonl.PlugError{
		What: fmt.Sprintf("no reply to %s within %v", method, limit),
		Do:   "check that the command speaks ACP over stdio (some agents need a flag such as --acp), and that it need not be installed first: npx downloads on its first run",
	}
}

func otherVersion(n int) *jsonl.PlugError {
	return &jsonl.PlugError{
		What: fmt.Sprintf("the agent speaks protocol version %d, this is version %d", n, acpsdk.ProtocolVersionNumber),
		Do:   "take a version of the agent that speaks this one",
	}
}

func ended(how, doing string) *jsonl.PlugError {
	return &jsonl.PlugError{
		What: fmt.Sprintf("the agent ended (%s) while %s", how, doing),
		Do:   "it runs until its stdin is closed; what it said on stderr tells why it ended, if it said anything",
	}
}

func stays(limit fmt.Stringer) *jsonl.PlugError {
	return &jsonl.PlugError{
		What: fmt.Sprintf("the agent still ran %v after its stdin was closed and it was sent SIGTERM", limit),
		Do:   "end when stdin is at its end, and end the runtime before",
	}
}

// said is what an error of the agent says: the words that it put into its data
// too.
func said(err error) string {
	r, ok := errors.AsType[*acpsdk.RequestError](err)
	if !ok {
		return err.Error()
	}
	s := r.Message
	switch d := r.Data.(type) {
	case nil:
	case map[string]any:
		for _, name := range []string{"details", "message", "error"} {
			if text, ok := d[name].(string); ok && !strings.Contains(s, text) {
				s += ": " + text
			}
		}
	default:
		s += fmt.Sprintf(": %v", d)
	}
	return s
}
