package tool

import (
	"strings"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

// onlyChat is why a broken adapter of tool.server-called is one of chat.
const onlyChat = "the other runtimes start the servers themselves"

var startsNoServer = broken.Adapter{
	Name: "starts-no-server", Sentence: "starts no MCP servers",
	Proves: "tool.server-called", Runtime: "chat", Why: onlyChat,
	Mutation: broken.Opening(func(o *conformance.Open) { o.MCP = nil }),
}

var startsWithoutVariables = broken.Adapter{
	Name: "starts-without-variables", Sentence: "starts an MCP server without its variables",
	Proves: "tool.server-called", Runtime: "chat", Why: onlyChat,
	Mutation: broken.Servers(func(x *adapters.MCPServer) { x.Env = nil }),
}

var connectsWithoutHeaders = broken.Adapter{
	Name: "connects-without-headers", Sentence: "sends an MCP server none of its headers",
	Proves: "tool.server-called", Runtime: "chat", Why: onlyChat,
	Mutation: broken.Servers(func(x *adapters.MCPServer) { x.Headers = nil }),
}

var hidesAFailedServer = broken.Adapter{
	Name: "hides-a-failed-server", Sentence: "does not report that an MCP server failed to start",
	Proves: "tool.server-called", Runtime: "chat", Why: onlyChat,
	Mutation: broken.Each(func(e event.Event, out func(event.Event)) {
		if d, ok := e.Data.(event.Notice); !ok || !strings.Contains(d.Text, "MCP server") {
			out(e)
		}
	}),
}

var takesFailuresForAnswers = broken.Adapter{
	Name: "takes-failures-for-answers", Sentence: "takes the failure of a tool for its answer",
	Proves: "tool.server-called", Runtime: "chat", Why: onlyChat,
	Mutation: broken.Change(func(d *event.ToolResult) {
		if d.Status == event.ToolError {
			d.IsError, d.Status = false, event.ToolOK
		}
	}),
}
