package tool

import (
	"cmp"
	"encoding/base64"
	"slices"
	"strings"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
	"github.com/turnspec/turnspec/fakes/standin"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/wire"
)

// ServerCalled is the check tool.server-called.
var ServerCalled = &conformance.Check{
	ID: "tool.server-called", Source: "the Model Context Protocol: tools/call, isError, structuredContent", Tiers: []conformance.Tier{conformance.TierWitness},
	Mend: "Start each MCP server with its variables, or connect to its address with its headers, and offer its tools as mcp__SERVER__TOOL, with _ for each sign that the API does not take. " +
		"Send the content of a result to the model, or its structured content if it has no other, and emit a notice with the name of a server that does not start.",
	Sentence: "A client that runs the turns itself offers the tools of its MCP servers to the model as mcp__SERVER__TOOL with their descriptions and schemas, sends it what they answer, and marks those results as " +
		"errors of which the server says so. A notice names each server that does not start.",
	JudgesWritten: true,
	NeedsFor:      serverNeeds,
	Judge:         judgeServers,
}

// serverNeeds is what tool.server-called needs of a run.
func serverNeeds(r *conformance.Run) []string {
	out := []string{"tool_result"}
	if slices.ContainsFunc(r.Scenario.Servers, func(s fixtures.Server) bool { return s.Broken }) {
		out = append(out, "notice")
	}
	return out
}

func judgeServers(t *conformance.Trial, f *conformance.Finding) {
	if !runindex.Runtime(t.Run).ClientRunsTurns || len(t.Opens) == 0 {
		return
	}
	var offered []offer
	for _, w := range t.ClientActions {
		offered = append(offered, offers(w.Bytes)...)
	}
	for _, srv := range t.Scenario.Servers {
		if srv.Broken {
			judgeFailedStart(t, f, srv.Name)
			continue
		}
		for _, tool := range srv.Tools {
			judgeServerOffer(t, f, &srv, &tool, offered)
		}
	}
	sent := runindex.ResultsWritten(t)
	for _, call := range runindex.Calls(t.Run) {
		tool := servedTool(t.Run, call.ID)
		if tool == nil || !slices.ContainsFunc(t.ClientActions, func(w standin.ClientAction) bool { return bringsResult(t.Run, w.Bytes, call.ID) }) {
			continue
		}
		f.Asserted(1)
		f.Sent = true
		for _, text := range servedTexts(tool) {
			if !strings.Contains(sent[call.ID], text) {
				f.Failf("the server's tool %s answered %q, the model received %q", tool.Name, text, runindex.Clip(sent[call.ID]))
			}
		}
		failed := tool.IsError || tool.Fail != "" || tool.Dies
		for e, d := range runindex.EventsOf[event.ToolResult](t.Run) {
			if !runindex.SameCall(t.Run, d.ToolUseID, call.ID) {
				continue
			}
			f.Asserted(1)
			if d.IsError != failed {
				f.At(e, "the server's tool %s failed: %v, but is_error is %v", tool.Name, failed, d.IsError)
			}
		}
	}
}

// judgeFailedStart demands a notice that names a server.
func judgeFailedStart(t *conformance.Trial, f *conformance.Finding, server string) {
	f.Asserted(1)
	for _, d := range runindex.EventsOf[event.Notice](t.Run) {
		if strings.Contains(d.Text, server) {
			return
		}
	}
	f.Missingf("the MCP server %s did not start, and no notice names it", server)
}

// judgeServerOffer demands that a tool is offered as the server describes it.
func judgeServerOffer(t *conformance.Trial, f *conformance.Finding, srv *fixtures.Server, tool *fixtures.Tool, offered []offer) {
	if len(t.ClientActions) == 0 {
		return
	}
	name := fixtures.ServerTool(srv.Name, tool.Name)
	f.Asserted(1)
	f.Sent = true
	i := slices.IndexFunc(offered, func(o offer) bool { return o.name == name })
	switch {
	case i < 0:
		f.Failf("the subject did not offer the tool %s of the server %s as %s", tool.Name, srv.Name, name)
	case offered[i].description != tool.Description || tool.Schema != nil && offered[i].schema != runindex.Canonical(tool.Schema):
		f.Failf("the subject offered the tool %s of the server %s as %q with the schema %s, want %q with %s", tool.Name, srv.Name,
			offered[i].description, offered[i].schema, tool.Description, runindex.Canonical(tool.Schema))
	}
}

// bringsResult reports whether a line of the subject brings the result of a call.
func bringsResult(r *conformance.Run, line []byte, call string) bool {
	in := runindex.Runtime(r).ReadInput(line)
	if in.Step == nil {
		return false
	}
	for id := range in.Step.Results {
		if runindex.SameCall(r, id, call) {
			return true
		}
	}
	return false
}

// servedTool returns the tool of an MCP server that a call of the model has run, or nil. It is nil
// where the runtime runs the tools, and of a call whose result the model never got.
func servedTool(r *conformance.Run, id string) *fixtures.Tool {
	if !runindex.Runtime(r).ClientRunsTurns {
		return nil
	}
	results := runindex.ToolResults(r)
	for _, call := range runindex.Calls(r) {
		var in struct {
			Server string `json:"server"`
			Tool   string `json:"tool"`
		}
		result, ended := results[call.ID]
		if call.Tool != "mcp" || !ended || !runindex.SameCall(r, id, call.ID) || !runindex.Decode(call.Input, &in) {
			continue
		}
		for i := range r.Scenario.Servers {
			for j := range r.Scenario.Servers[i].Tools {
				tool := &r.Scenario.Servers[i].Tools[j]
				if r.Scenario.Servers[i].Name == in.Server && tool.Name == in.Tool &&
					!slices.ContainsFunc(servedTexts(tool), func(s string) bool { return !strings.Contains(result, s) }) {
					return tool
				}
			}
		}
	}
	return nil
}

// servedTexts returns the texts that the model gets of a tool of a server: its texts, its error,
// or its structured content if it has no other.
func servedTexts(t *fixtures.Tool) []string {
	switch {
	case t.Fail != "":
		return []string{t.Fail}
	case len(t.Result) == 0 && t.Structured != nil:
		return []string{runindex.Canonical(t.Structured)}
	}
	var out []string
	for _, c := range t.Result {
		if c.Text != "" {
			out = append(out, c.Text)
		}
	}
	return out
}

// mediaOf describes the media of a tool's result.
func mediaOf(t *fixtures.Tool) (out []wire.Media) {
	for _, c := range t.Result {
		if b, err := base64.StdEncoding.DecodeString(c.Image); err == nil && len(b) > 0 {
			out = append(out, wire.MediaOf(cmp.Or(c.MIME, "image/png"), b))
		}
	}
	return out
}
