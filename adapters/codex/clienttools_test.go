package codex_test

import (
	"context"
	"errors"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/codex"
)

func TestHooksAreUnsupported(t *testing.T) {
	_, err := codex.New().Open(context.Background(), adapters.Options{Hooks: []adapters.Hook{{Event: "Stop"}}})
	g := NewWithT(t)
	g.Expect(errors.Is(err, adapters.ErrUnsupported)).To(BeTrue())
	var open *adapters.OpenError
	g.Expect(errors.As(err, &open)).To(BeTrue())
}

func TestUnknownClientToolIsRefused(t *testing.T) {
	table := startedTurn()
	table["turn/start"] = append(table["turn/start"],
		`{"method":"item/tool/call","id":0,"params":{"threadId":"T","turnId":"u1","callId":"call_1","tool":"compass","arguments":{}}}`)
	evs, sent, _ := runClient(t, table, func(s adapters.Session, _ *runtime) error { return send(s, "m1") })
	g := NewWithT(t)
	g.Expect(sent[len(sent)-1]).To(HavePrefix(`{"id":0,"error":{"code":-32601`))
	g.Expect(kinds(evs)).To(ContainElement("notice unknown_message"))
	g.Expect(kinds(evs)).To(ContainElements("tool_start", "tool_result"))
}
