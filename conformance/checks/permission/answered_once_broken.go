package permission

import (
	"bytes"
	"io"

	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var answersTwice = broken.Adapter{
	Name: "answers-twice", Sentence: "answers each question twice",
	Proves: "permission.answered-once",
	Mutation: broken.Mutation{Write: func(line []byte, w io.Writer) error {
		_, err := w.Write(line)
		if bytes.Contains(line, []byte(`"decision"`)) || bytes.Contains(line, []byte(`"behavior"`)) {
			_, err = w.Write(line)
		}
		return err
	}},
}

var closesBeforeItAnswers = broken.Adapter{
	Name: "closes-before-it-answers", Sentence: "closes the session and leaves a question of the runtime without a reply",
	Proves:   "permission.answered-once",
	Mutation: broken.Mutation{BeforeClose: func(p proc.Process) { _ = p.Stdin().Close() }},
}
