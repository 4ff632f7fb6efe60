package compare

import "strings"

// claude returns the stream of a stream-json line.
func (n *normalizer) claude(t *tree, in bool, _, _ int) string {
	kind := t.str("type")
	switch kind {
	case "control_response":
		id := t.str("response", "request_id")
		if key := n.asked[id]; key != "" {
			return key // an answer to the runtime, or its echo
		}
		return "answer to " + firstOf(n.client[id], id)
	case "control_request":
		if in {
			return "client"
		}
		key := "request " + t.str("request", "subtype")
		if id := t.str("request", "tool_use_id"); id != "" {
			key = n.call(n.agent(n.tasks[t.str("request", "agent_id")]), id)
		} else if cb := t.str("request", "callback_id"); cb != "" {
			key += " " + cb
		}
		n.asked[t.str("request_id")] = key
		return key
	case "control_cancel_request":
		return firstOf(n.asked[t.str("request_id")], "request cancelled")
	}
	if in {
		return "client"
	}
	agent := n.agent(t.str("parent_tool_use_id"))
	switch kind {
	case "assistant", "user":
		switch block := t.at("message", "content"); block.str("type") {
		case "tool_use":
			return n.call(agent, block.str("id"))
		case "tool_result":
			return n.call(agent, block.str("tool_use_id"))
		}
		return agent + " messages"
	case "stream_event":
		return agent + " messages"
	case "result":
		return "turns"
	case "command_lifecycle":
		return "lifecycle of " + firstOf(n.client[t.str("command_uuid")], "a message")
	case "system":
		sub := t.str("subtype")
		if _, noise := noiseLines["system/"+sub]; noise {
			return ""
		}
		if sub == "init" {
			return "turns"
		}
		id := t.str("task_id")
		if call := t.str("tool_use_id"); call != "" && strings.HasPrefix(sub, "task_") {
			n.tasks[id] = call
		}
		if id != "" && n.tasks[id] != "" {
			return "task of " + firstOf(n.tool(n.tasks[id]), "a call")
		}
		return "system " + sub
	}
	return kind
}

// agent names an agent by the call that spawned it.
func (n *normalizer) agent(call string) string {
	if call == "" {
		return "agent main"
	}
	return "agent of " + firstOf(n.tool(call), "a call")
}

// call names a tool call's stream: the call, its question, its result.
func (n *normalizer) call(agent, id string) string {
	return agent + " tool " + firstOf(n.tool(id), "of no scenario")
}
