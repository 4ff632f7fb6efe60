package claude_test

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/event"
)

// Each line is one that the runtime may send while the tool t1 runs.
func TestProgressIsTheTimeOfAnOpenTool(t *testing.T) {
	const (
		start = `{"type":"assistant","message":{"id":"m1","model":"x","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"make"}}]},"parent_tool_use_id":null,"session_id":"S","uuid":"5"}`
		end   = `{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"made"}]},"parent_tool_use_id":null,"session_id":"S","uuid":"6"}`
		beat  = `{"type":"tool_progress","tool_use_id":"t1-heartbeat-0","tool_name":"Bash","parent_tool_use_id":"t1","elapsed_time_seconds":30,"heartbeat":true,"session_id":"S","uuid":"7"}`
	)
	for name, tt := range map[string]struct {
		line string
		want []event.ToolProgress
	}{
		"a heartbeat":              {beat, []event.ToolProgress{{ToolUseID: "t1", ElapsedMS: 30_000}}},
		"the call itself":          {`{"type":"tool_progress","tool_use_id":"t1","parent_tool_use_id":null,"elapsed_time_seconds":2.5,"session_id":"S","uuid":"7"}`, []event.ToolProgress{{ToolUseID: "t1", ElapsedMS: 2500}}},
		"a hook":                   {`{"type":"tool_progress","tool_use_id":"hook-PostToolUse-t1-heartbeat-0","tool_name":"PostToolUse","parent_tool_use_id":"t1","elapsed_time_seconds":30,"heartbeat":true,"session_id":"S","uuid":"7"}`, nil},
		"a retry of a sub-agent":   {`{"type":"tool_progress","tool_use_id":"r","parent_tool_use_id":"t1","elapsed_time_seconds":0,"subagent_retry":{"agent_id":"a","attempt":1,"max_retries":2,"retry_delay_ms":500,"error_status":529,"error_category":"overloaded"},"session_id":"S","uuid":"7"}`, nil},
		"a tool that is not known": {`{"type":"tool_progress","tool_use_id":"t2-heartbeat-0","parent_tool_use_id":"t2","elapsed_time_seconds":30,"session_id":"S","uuid":"7"}`, nil},
	} {
		g := gomega.NewWithT(t)
		_, evs := readOlder(t, olderInit, beat, start, tt.line, end, beat, olderEnd, beat)
		var got []event.ToolProgress
		for _, e := range evs {
			if d, ok := e.Data.(event.ToolProgress); ok {
				got = append(got, d)
			}
		}
		g.Expect(got).To(gomega.Equal(tt.want), name)
	}
}
