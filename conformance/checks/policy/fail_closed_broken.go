package policy

import (
	"bytes"
	"context"
	"io"
	"strings"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/conformance/internal/broken"
	"github.com/turnspec/turnspec/fakes/fault"
)

var allowsWhatItCannotRead = broken.Adapter{
	Name: "allows-what-it-cannot-read", Sentence: "allows a command whose quotes do not match",
	Proves: "policy.fail-closed",
	Mutation: judging(func(j adapters.Judge, ctx context.Context, c adapters.Call) adapters.Verdict {
		if strings.Count(command(c), "'")%2 == 1 {
			return adapters.Verdict{Effect: adapters.EffectAllow}
		}
		return j(ctx, c)
	}),
}

var allowsTheUnreadable = broken.Adapter{
	Name: "allows-the-unreadable", Sentence: "allows a call that it cannot read",
	Proves: "policy.fail-closed",
	Mutation: broken.Mutation{Write: func(line []byte, w io.Writer) error {
		if bytes.Contains(line, []byte(`"`+fault.UnreadableRequestID)) {
			line = bytes.ReplaceAll(line, []byte(`"behavior":"deny"`), []byte(`"behavior":"allow"`))
			line = bytes.ReplaceAll(line, []byte(`"permissionDecision":"deny"`), []byte(`"permissionDecision":"allow"`))
			line = bytes.ReplaceAll(line, []byte(`"decision":"decline"`), []byte(`"decision":"accept"`))
		}
		_, err := w.Write(line)
		return err
	}},
}
