package claude_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
)

// mcpLine is an MCP message of the runtime to the client.
func mcpLine(request, message string) string {
	return fmt.Sprintf(`{"type":"control_request","request_id":%q,"request":{"subtype":"mcp_message","server_name":"client","message":%s}}`, request, message)
}

func clockTool(call func(context.Context, adapters.ToolCall) (adapters.ToolAnswer, error)) adapters.Options {
	return adapters.Options{Tools: []adapters.Tool{{Name: "clock", Description: "Tells the time.", Call: call}}}
}

func TestClientToolsAreServedOverMCP(t *testing.T) {
	g := gomega.NewWithT(t)
	var list, called, broken, unknown string
	o := clockTool(func(_ context.Context, c adapters.ToolCall) (adapters.ToolAnswer, error) {
		if strings.Contains(string(c.Input), "never") {
			return adapters.ToolAnswer{}, errors.New("no such time")
		}
		return adapters.ToolAnswer{Content: []adapters.ToolContent{{Text: "noon for " + c.ID}, {Image: []byte("x"), MIME: "image/png"}}}, nil
	})
	events, _, _ := runClient(t, o, func(p *peer) {
		p.handshake()
		p.Print(initLine)
		p.Print(mcpLine("q1", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`))
		list = p.expect(`"q1"`)
		p.Print(mcpLine("q2", `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"clock","arguments":{},"_meta":{"claudecode/toolUseId":"t1"}}}`))
		called = p.expect(`"q2"`)
		p.Print(mcpLine("q3", `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"clock","arguments":{"when":"never"}}}`))
		broken = p.expect(`"q3"`)
		p.Print(mcpLine("q4", `{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"compass"}}`))
		unknown = p.expect(`"q4"`)
		p.Print(resultLine)
		p.quit()
	}, func(_ adapters.Session, next func(event.Type) event.Event) {
		next(event.TypeDone)
	})
	g.Expect(list).To(gomega.ContainSubstring(`"name":"clock"`))
	g.Expect(called).To(gomega.ContainSubstring(`{"type":"text","text":"noon for t1"},{"type":"image","data":"eA==","mimeType":"image/png"}`))
	g.Expect(broken).To(gomega.ContainSubstring(`"error":{"code":-32000,"message":"no such time"}`))
	g.Expect(unknown).To(gomega.ContainSubstring(`"error":{"code":-32602`))
	g.Expect(notices(events, event.NoticeRefused)).To(gomega.Equal(1))
}

func TestCancelledCallGetsAReplyAndCancelsItsTool(t *testing.T) {
	g := gomega.NewWithT(t)
	var given string
	ended := make(chan error, 1)
	o := clockTool(func(ctx context.Context, _ adapters.ToolCall) (adapters.ToolAnswer, error) {
		<-ctx.Done()
		ended <- ctx.Err()
		return adapters.ToolAnswer{}, nil
	})
	_, _, _ = runClient(t, o, func(p *peer) { //nolint:dogsled // the peer judges
		p.handshake()
		p.Print(initLine)
		p.Print(mcpLine("q1", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"clock"}}`))
		p.Print(mcpLine("q2", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`))
		given = p.expect(`"q1"`)
		p.expect(`"q2"`)
		p.Print(resultLine)
		p.quit()
	}, func(_ adapters.Session, next func(event.Type) event.Event) {
		next(event.TypeDone)
	})
	g.Expect(given).To(gomega.ContainSubstring(`"error":{"code":-32000`))
	g.Expect(<-ended).To(gomega.MatchError(context.Canceled))
}

func TestCloseCancelsARunningHook(t *testing.T) {
	g := gomega.NewWithT(t)
	var greeting, given string
	called := make(chan struct{})
	o := adapters.Options{Hooks: []adapters.Hook{{Event: "Stop", Matcher: "x", Timeout: 1500 * time.Millisecond, Call: func(ctx context.Context, _ event.Raw) (event.Raw, error) {
		close(called)
		<-ctx.Done()
		return nil, ctx.Err()
	}}}}
	_, _, _ = runClient(t, o, func(p *peer) { //nolint:dogsled // the peer judges
		greeting = p.expect(`"initialize"`)
		p.Print(fmt.Sprintf(`{"type":"control_response","response":{"subtype":"success","request_id":%q,"response":{}}}`, quoted(greeting, `"request_id":"`)))
		p.Print(initLine)
		p.Print(`{"type":"control_request","request_id":"q1","request":{"subtype":"hook_callback","callback_id":"hook_0","input":{}}}`)
		given = p.expect(`"q1"`)
		p.Print(resultLine)
		p.quit()
	}, func(_ adapters.Session, next func(event.Type) event.Event) {
		next(event.TypeTurnStart)
		<-called
	})
	g.Expect(greeting).To(gomega.ContainSubstring(`"hooks":{"Stop":[{"matcher":"x","hookCallbackIds":["hook_0"],"timeout":2}]}`))
	g.Expect(given).To(gomega.ContainSubstring(`"subtype":"error"`))
}
