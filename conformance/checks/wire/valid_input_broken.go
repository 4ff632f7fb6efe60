package wire

import (
	"bytes"
	"context"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var logsToTheRuntime = broken.Adapter{
	Name: "logs-to-the-runtime", Sentence: "writes its log to the runtime's stdin",
	Proves: "wire.valid-input",
	Mutation: broken.Written(func(line []byte) []byte {
		return append([]byte("debug: writing\n"), line...)
	}),
}

var cutsTheMessage = broken.Adapter{
	Name: "cuts-the-message", Sentence: "loses the first letter of each message of the user",
	Proves: "wire.valid-input",
	Mutation: broken.Written(func(line []byte) []byte {
		return firstLetter.ReplaceAll(line, []byte("$1"))
	}),
}

var firstLetter = regexp.MustCompile(`("text":")[A-Za-z]`)

var interruptsAnotherTurn = broken.Adapter{
	Name: "interrupts-another-turn", Sentence: "names a turn that does not run when it stops one",
	Proves:  "wire.valid-input",
	Runtime: "codex", Why: "an interrupt of Claude Code names no turn",
	Mutation: broken.Mutation{Write: func(line []byte, w io.Writer) error {
		if bytes.Contains(line, []byte(`"turn/interrupt"`)) {
			line = bytes.ReplaceAll(line, []byte(`"turnId":"`), []byte(`"turnId":"0`))
		}
		_, err := w.Write(line)
		return err
	}},
}

var namesNoClient = broken.Adapter{
	Name: "names-no-client", Sentence: "leaves the name of the client out of the handshake",
	Proves:  "wire.valid-input",
	Runtime: "codex", Why: "the handshake of Claude Code names no client",
	Mutation: broken.Written(func(line []byte) []byte {
		return bytes.Replace(line, []byte(`"clientInfo"`), []byte(`"client_info"`), 1)
	}),
}

var misspellsATag = broken.Adapter{
	Name: "misspells-a-tag", Sentence: "gives the text of a message a type that the runtime does not know",
	Proves:  "wire.valid-input",
	Runtime: "codex", Why: "Claude Code publishes no schema of its messages that it enforces",
	Mutation: broken.Written(func(line []byte) []byte {
		return bytes.Replace(line, []byte(`"type":"text"`), []byte(`"type":"txt"`), 1)
	}),
}

var misspellsAFormat = broken.Adapter{
	Name: "misspells-a-format", Sentence: "starts the runtime with a format that it does not know",
	Proves:  "wire.valid-input",
	Runtime: "claude", Why: "Codex has no option for a format",
	Mutation: broken.Opening(func(o *conformance.Open) {
		next := o.Launch
		o.Launch = proc.LauncherFunc(func(ctx context.Context, c proc.Command) (proc.Process, error) {
			c.Argv = slices.Clone(c.Argv)
			for i := range c.Argv {
				c.Argv[i] = strings.Replace(c.Argv[i], "stream-json", "json-stream", 1)
			}
			return next.Launch(ctx, c)
		})
	}),
}
