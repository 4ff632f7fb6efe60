package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/wire"
)

// findThreads names the threads: those that the client opened by their order,
// those of sub-agents by the name or the call that the wire has for them.
func (n *normalizer) findThreads() {
	for _, l := range n.lines {
		if l.Kind == wire.Reply && l.Opened != "" && n.threads[l.Opened] == "" {
			n.threads[l.Opened] = strconv.Itoa(len(n.threads) + 1)
		}
	}
	for _, c := range n.compared {
		for id, name := range c.Children {
			n.threads[id] = cmp.Or(n.threads[id], name)
		}
	}
}

// agentName names the agent that a line belongs to; "" if it belongs to none.
func (n *normalizer) agentName(l wire.Line) string {
	if n.rt.Threads {
		id := cmp.Or(l.Session, l.Opened)
		if id == "" {
			return ""
		}
		if n.threads[id] == "" {
			n.threads[id] = fmt.Sprintf("unnamed %d", len(n.threads)+1)
		}
		return "thread " + n.threads[id] + " "
	}
	call := l.Agent
	if l.Kind == wire.Request && l.Task != "" {
		call = n.tasks[l.Task]
	}
	if call == "" {
		return "agent main "
	}
	return "agent of " + cmp.Or(n.scenarioCall(call), "a call") + " "
}

// itemName names an item: by the tool call of the scenario, else by its type and
// order.
func (n *normalizer) itemName(agent, id, kind string) string {
	if call := n.scenarioCall(id); call != "" {
		return agent + "item " + call
	}
	k := agent + "\x00" + id
	if n.items[k] == "" {
		n.kinds[agent+kind]++
		n.items[k] = fmt.Sprintf("%sitem %s %d", agent, kind, n.kinds[agent+kind])
	}
	return n.items[k]
}

// streamName returns the name of the stream of a line; "" if it is not compared.
func (n *normalizer) streamName(i int) string {
	w, l, t, c := n.c.Wire[i], n.lines[i], n.trees[i], n.compared[i]
	process := fmt.Sprintf("process %d ", w.Process)
	in := w.Dir == fixtures.In
	requestID := func(id []byte) string { return process + string(id) }
	if in && l.Kind == wire.Answer || l.Kind == wire.Request {
		t.dropMember("id") // the runtime counts its requests over all threads
	}
	switch {
	case in && l.Kind == wire.Answer, l.Kind == wire.Withdrawal:
		if params := t.at("params"); params != nil {
			params.dropMember("requestId")
		}
		return cmp.Or(n.asked[requestID(l.RepliesTo)], process+"answers to nothing")
	case in:
		return process + "client"
	case l.Kind == wire.Reply:
		if key := n.asked[requestID(l.RepliesTo)]; key != "" && l.EchoesAnswer {
			return key
		}
		id := wire.Unquote(l.RepliesTo)
		return process + "answer to " + cmp.Or(n.client[id], id)
	}
	name := cmp.Or(l.Method, l.Name)
	if l.Kind == wire.Request && l.Item == "" {
		l.Item = l.Asked.Tool
	}
	key := process + n.agentName(l)
	switch {
	case l.Kind == wire.TurnStart || l.Kind == wire.TurnEnd || slices.Contains(n.rt.Compare.OfTurns, name):
		key += "turns"
	case l.Kind == wire.MessageState && len(l.About) > 0:
		key += "message " + cmp.Or(n.client[l.About[0]], "of no client")
	case l.Task != "" && l.Kind != wire.Request:
		n.tasks[l.Task] = cmp.Or(n.tasks[l.Task], l.Item)
		key += "task of " + cmp.Or(n.scenarioCall(n.tasks[l.Task]), "a call")
	case cmp.Or(l.Item, c.Item) != "" && key != process:
		kind := cmp.Or(c.Type, l.Type)
		if parts := strings.Split(name, "/"); kind == "" && len(parts) > 2 {
			kind = parts[1]
		}
		key = n.itemName(key, cmp.Or(l.Item, c.Item), kind)
	case l.Item != "":
		key = n.itemName(key, l.Item, "of a turn")
	case l.Work:
		key += "messages"
	case l.Asked != nil && l.Asked.Hook != "":
		key += name + " " + l.Asked.Hook
	default:
		key += name
	}
	key += c.Suffix
	if l.Kind == wire.Request {
		n.asked[requestID(l.ID)] = key
	}
	n.gatherOutput(i, key)
	_, ignored := n.rt.Compare.Ignored[name]
	_, named := n.rt.Compare.Ignored[l.Name]
	if ignored || named || n.repeats(name, key, i) {
		return ""
	}
	return key
}

// repeats reports whether a line repeats the last one of its stream, where a
// repetition is chance.
func (n *normalizer) repeats(name, key string, i int) bool {
	if _, chance := n.rt.Compare.Repeats[name]; !chance {
		return false
	}
	text := emittedAt.ReplaceAllString(string(n.c.Wire[i].Bytes), "")
	if n.last[key] == text {
		return true
	}
	n.last[key] = text
	return false
}

// gatherOutput joins the streamed output of an item. When the item ends, it
// reports output that the item does not repeat. The output of an item that never
// ends is not compared.
func (n *normalizer) gatherOutput(i int, key string) {
	l := n.lines[i]
	ends := len(l.Tools) > 0 && l.Tools[0].Ends
	o := n.output[key]
	switch {
	case l.Piece.Kind == wire.Output:
		if o == nil {
			o = &strings.Builder{}
			n.output[key] = o
		}
		o.WriteString(l.Piece.Text)
	case ends && o != nil:
		delete(n.output, key)
		whole := n.trees[i].at(n.rt.Compare.Output...)
		if whole == nil {
			n.addLine(key, i+1, fmt.Sprintf("streamed output: %q", o.String()), nil)
		} else if !strings.Contains(n.trees[i].str(n.rt.Compare.Output...), o.String()) {
			n.addLine(key, i+1, fmt.Sprintf("streamed output: %q is not part of the item's", o.String()), nil)
		}
	}
}

// dropSums drops the sums of costs that chance decides. Sub-agents run at the
// same time as the turn, so only the last sums are certain. A reply whose stream
// the runtime closed counts as far as the runtime had read it, so no later sum of
// such a recording is certain. A stop may come before there is a reply to close.
func (n *normalizer) dropSums() {
	closed := slices.ContainsFunc(n.c.Witness, func(q fixtures.Request) bool { return q.Ended == fixtures.EndedClosed }) ||
		slices.ContainsFunc(n.lines, func(l wire.Line) bool { return l.Step != nil && l.Kind == wire.Stop })
	if len(n.tasks) == 0 && !closed {
		return
	}
	var ends []*tree
	for i, l := range n.lines {
		if l.Kind == wire.TurnEnd && n.trees[i] != nil {
			ends = append(ends, n.trees[i])
		}
	}
	for i, t := range ends {
		for _, name := range n.rt.Compare.TurnSums {
			t.dropMember(name)
		}
		if i == len(ends)-1 && !closed {
			continue
		}
		for _, name := range n.rt.Compare.Sums {
			t.dropMember(name)
		}
	}
}

// certain returns the requests of the witness that are not chance. A turn that is
// stopped at its start may or may not have sent its request. The news of a request
// that was closed before its reply began come with the next one of its agent.
func (n *normalizer) certain() []fixtures.Request {
	var out []fixtures.Request
	news := map[string][]string{} // by agent
	for _, q := range n.c.Witness {
		if q.Ended == fixtures.EndedClosed && len(q.Output) == 0 {
			news[q.Agent] = append(news[q.Agent], q.New...)
			continue
		}
		if before := news[q.Agent]; before != nil {
			more := slices.DeleteFunc(slices.Clone(q.New), func(id string) bool { return slices.Contains(before, id) })
			q.New = slices.Concat(before, more)
			delete(news, q.Agent)
		}
		out = append(out, q)
	}
	return out
}

// maybeLost returns the messages that a killed process may or may not have
// stored: those whose reply the kill cut off.
func (n *normalizer) maybeLost() []string {
	killed := func(w fixtures.WireLine) bool { return w.Dir == fixtures.Signal && w.Signal == "SIGKILL" }
	if !n.rt.Compare.KillLosesReply || !slices.ContainsFunc(n.c.Wire, killed) {
		return nil
	}
	var out []string
	for _, q := range n.c.Witness {
		if q.Ended == fixtures.EndedClosed {
			out = append(out, q.New...)
		}
	}
	return out
}
