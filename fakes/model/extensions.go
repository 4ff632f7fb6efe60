package model

import (
	"fmt"
	"strings"

	"github.com/turnspec/turnspec/fixtures"
)

// claudeExtension translates calls of tools that were added to Claude Code.
func claudeExtension(c *fixtures.ToolCall, o offer) (wireCall, error) {
	switch c.Tool {
	case "client":
		in, err := decodeInput[clientInput](c)
		if err != nil {
			return wireCall{}, err
		}
		// The client is an MCP server, whose name is its own affair.
		for _, name := range o.names() {
			if strings.HasPrefix(name, "mcp__") && strings.HasSuffix(name, "__"+in.Tool) {
				return wireCall{kind: "function", name: name, input: arguments(in.Arguments)}, nil
			}
		}
		return wireCall{}, notOffered(c, o, "mcp__…__"+in.Tool)
	case "structured":
		in, err := decodeInput[structuredInput](c)
		if err != nil {
			return wireCall{}, err
		}
		t, ok := o.findTool("StructuredOutput")
		if !ok {
			return wireCall{}, notOffered(c, o, "StructuredOutput")
		}
		return wireCall{kind: "function", name: t.name, input: arguments(in.Value)}, nil
	case "discover":
		in, err := decodeInput[discoverInput](c)
		if err != nil {
			return wireCall{}, err
		}
		t, ok := o.findTool("ToolSearch")
		if !ok {
			return wireCall{}, notOffered(c, o, "ToolSearch")
		}
		return jsonCall(t, struct {
			Query string `json:"query"`
			Max   int    `json:"max_results"`
		}{in.Query, 5})
	}
	return wireCall{}, fmt.Errorf("tool %s %q: no translation", c.Tool, c.ID)
}

// codexExtension translates for Codex.
func codexExtension(c *fixtures.ToolCall, o offer) (wireCall, error) {
	switch c.Tool {
	case "view":
		in, err := decodeInput[readInput](c)
		if err != nil {
			return wireCall{}, err
		}
		t, ok := o.findTool("view_image")
		if !ok {
			return wireCall{}, notOffered(c, o, "view_image")
		}
		return jsonCall(t, in)
	case "client":
		in, err := decodeInput[clientInput](c)
		if err != nil {
			return wireCall{}, err
		}
		t, ok := o.findTool(in.Tool)
		if !ok {
			return wireCall{}, notOffered(c, o, in.Tool)
		}
		return wireCall{kind: "function", namespace: t.namespace, name: t.name, input: arguments(in.Arguments)}, nil
	case "discover":
		in, err := decodeInput[discoverInput](c)
		if err != nil {
			return wireCall{}, err
		}
		for _, t := range o.tools {
			if t.kind == "tool_search" {
				t.name = "tool_search"
				w, err := jsonCall(t, in)
				w.kind = "search"
				return w, err
			}
		}
		return wireCall{}, notOffered(c, o, "tool_search")
	}
	return wireCall{}, fmt.Errorf("tool %s %q: no translation", c.Tool, c.ID)
}
