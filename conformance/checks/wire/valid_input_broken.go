package wire

import (
	"io"

	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var logsToTheRuntime = broken.Adapter{
	Name: "logs-to-the-runtime", Sentence: "writes its log to the runtime's stdin",
	Proves: "wire.valid-input",
	Mutation: broken.Mutation{Write: func(line []byte, w io.Writer) error {
		_, err := w.Write(append([]byte("debug: writing\n"), line...))
		return err
	}},
}
