package compare

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// turnMethods order a thread's turns.
var turnMethods = map[string]bool{"turn/started": true, "turn/completed": true, "error": true}

// findThreads names Codex's threads: those that the client opened by their
// order, children by the agent's path or the call that spawned them.
func (n *normalizer) findThreads() {
	for _, t := range n.trees {
		if t == nil {
			continue
		}
		if id := t.str("result", "thread", "id"); id != "" && n.threads[id] == "" {
			n.threads[id] = strconv.Itoa(len(n.threads) + 1)
		}
	}
	for _, t := range n.trees {
		item := t.at("params", "item")
		if item == nil {
			continue
		}
		if id := item.str("agentThreadId"); id != "" && n.threads[id] == "" {
			n.threads[id] = item.str("agentPath")
		}
		if ids := item.at("receiverThreadIds"); ids != nil && item.str("tool") == "spawnAgent" {
			for _, id := range ids.kids {
				if n.threads[id.text] == "" {
					n.threads[id.text] = "of " + n.tool(item.str("id"))
				}
			}
		}
	}
}

func (n *normalizer) thread(id string) string {
	if n.threads[id] == "" {
		n.threads[id] = fmt.Sprintf("unnamed %d", len(n.threads)+1)
	}
	return "thread " + n.threads[id]
}

// item names an item: by the scripted tool call, else by its type and order.
func (n *normalizer) item(thread, id, kind string) string {
	if tool := n.tool(id); tool != "" {
		return thread + " item " + tool
	}
	k := thread + "\x00" + id
	if n.items[k] == "" {
		n.kinds[thread+kind]++
		n.items[k] = fmt.Sprintf("%s item %s %d", thread, kind, n.kinds[thread+kind])
	}
	return n.items[k]
}

// codex returns the stream of a line of JSON-RPC.
func (n *normalizer) codex(t *tree, in bool, i, process int) string {
	method, params := t.str("method"), t.at("params")
	asked := fmt.Sprintf("%d/%s", process, t.str("id"))
	switch {
	case in && method == "":
		t.drop("id") // the runtime counts its requests over all threads
		return n.stream(asked)
	case in:
		return "client"
	case method == "":
		return "answer to " + t.str("id")
	}
	if method == "serverRequest/resolved" {
		key := n.stream(fmt.Sprintf("%d/%s", process, params.str("requestId")))
		params.drop("requestId")
		return key
	}
	thread := firstOf(params.str("threadId"), params.str("conversationId"), params.str("thread", "id"))
	id := firstOf(params.str("itemId"), params.str("item", "id"), params.str("callId"))
	old := params.at("msg") // of 0.98, which says all in an older form too
	if id == "" {
		id = firstOf(old.str("call_id"), old.str("item_id"), old.str("item", "id"))
	}
	key := method
	if thread != "" {
		name := n.thread(thread)
		switch {
		case id != "":
			kind := params.str("item", "type")
			if parts := strings.Split(method, "/"); kind == "" && len(parts) > 2 {
				kind = parts[1]
			}
			if k := old.str("item", "type"); k != "" {
				kind = strings.ToLower(k[:1]) + k[1:]
			}
			if key = n.item(name, id, kind); old != nil {
				key += " in the old form"
			}
		case turnMethods[method]:
			key = name + " turns"
		default:
			key = name + " " + method
		}
	}
	switch method { // servers start side by side
	case "item/commandExecution/terminalInteraction":
		key += " typed" // told when it was typed, or when the command has ended by it
	case "mcpServer/startupStatus/updated":
		key += " " + params.str("name")
	case "codex/event/mcp_startup_update":
		key += " " + old.str("server")
	case "codex/event/mcp_startup_complete":
		if ready := old.at("ready"); ready != nil {
			slices.SortFunc(ready.kids, func(a, b *tree) int { return strings.Compare(a.text, b.text) })
		}
	}
	if t.has("id") {
		t.drop("id")
		n.asked[asked] = key
	}
	begun(params.at("item"))
	n.watch(i, process, method, key, params)
	if _, noise := noiseLines[method]; noise || n.again(method, key, i) {
		return ""
	}
	return key
}

// again reports whether a line of those methods says what its last one said.
func (n *normalizer) again(method, key string, i int) bool {
	if _, noise := noiseWhenUnchanged[method]; !noise {
		return false
	}
	text := emittedAt.ReplaceAllString(string(n.c.Wire[i-1].Bytes), "")
	if n.last[key] == text {
		return true
	}
	n.last[key] = text
	return false
}

func (n *normalizer) stream(asked string) string {
	if key := n.asked[asked]; key != "" {
		return key
	}
	return "answers to nothing"
}

// begun drops from the call that made a sub-agent whether that one has begun: it
// begins beside the call.
func begun(item *tree) {
	if item.str("tool") != "spawnAgent" {
		return
	}
	if states := item.at("agentsStates"); states != nil {
		for _, s := range states.kids {
			if status := s.str("status"); status == "pendingInit" || status == "running" {
				s.drop("status")
			}
		}
	}
}

// watch gathers a command's output, and reports deltas that are not contained
// in what the item held in the end. Of an item that never ended there is nothing
// to compare with.
func (n *normalizer) watch(i, process int, method, key string, params *tree) {
	k := fmt.Sprint(process, key)
	o := n.output[k]
	switch {
	case method == "item/commandExecution/outputDelta", method == "item/fileChange/outputDelta":
		if o == nil {
			o = &strings.Builder{}
			n.output[k] = o
		}
		o.WriteString(params.str("delta"))
	case method == "item/completed" && o != nil:
		delete(n.output, k)
		if params.str("item", "type") == "fileChange" { // its item does not repeat it
			n.add(fmt.Sprintf("process %d %s", process, key), i, fmt.Sprintf("outputDelta: %q", o.String()), nil)
			return
		}
		if !strings.Contains(params.str("item", "aggregatedOutput"), o.String()) {
			n.add(fmt.Sprintf("process %d %s", process, key), i,
				fmt.Sprintf("outputDelta: %q is not contained in aggregatedOutput", o.String()), nil)
		}
	}
}

func firstOf(ss ...string) string {
	for _, s := range ss {
		if s != "" {
			return s
		}
	}
	return ""
}
