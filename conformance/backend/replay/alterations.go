package replay

import (
	"slices"

	"github.com/turnspec/turnspec/adapters/event"
)

// alteration changes events as a connection or a store might.
type alteration struct {
	name  string
	alter func([]event.Event) []event.Event // returns nil if there is nothing to alter
}

var alterations = []alteration{
	lost(event.TypeTurnStart), lost(event.TypeBlockEnd), lost(event.TypeToolStart), lost(event.TypeToolOutput), lost(event.TypeToolResult),
	lost(event.TypeTask), lost(event.TypePermissionRequest), lost(event.TypePermissionResolved), lost(event.TypeInterruptResolved), lost(event.TypeDone),
	lost(event.TypeSessionEnd), lost(event.TypeSessionReady), lost(event.TypeDelta), lost(event.TypeUserMessage),
	{"when turns end too early: ", early},
	{"when turns end too early and blocks and tools never end: ", cutShort},
	{"when no block has an id: ", nameless},
	{"when tasks are reported late: ", unannounced},
	{"when sub-agents are not reported: ", unheard},
	{"when each block is retracted: ", takenBack},
	{"when the runtime restarts in between: ", restarted},
	{"when the session fails in between: ", failed},
	{"when each event is repeated: ", doubled},
}

func lost(what event.Type) alteration {
	return alteration{"when each " + string(what) + " is lost: ", func(events []event.Event) []event.Event {
		return some(events, func(e event.Event) bool { return e.Type() == what })
	}}
}

// some removes the events that are lost. It returns nil if there are none.
func some(events []event.Event, lost func(event.Event) bool) []event.Event {
	n := len(events)
	if events = slices.DeleteFunc(events, lost); len(events) == n {
		return nil
	}
	return events
}

// early moves the end of each turn into the middle of the turn.
func early(events []event.Event) []event.Event {
	for i := range events {
		e := events[i]
		if !e.Terminal() || e.Turn == 0 || e.SubagentID != "" {
			continue
		}
		from := slices.IndexFunc(events, func(x event.Event) bool { return x.Turn == e.Turn })
		to := (from + i + 1) / 2
		copy(events[to+1:i+1], events[to:i])
		events[to] = e
		events[to].TS = events[max(to-1, 0)].TS
	}
	return events
}

func cutShort(events []event.Event) []event.Event {
	return some(early(events), func(e event.Event) bool {
		return e.Type() == event.TypeBlockEnd || e.Type() == event.TypeToolResult
	})
}

func nameless(events []event.Event) []event.Event {
	for i, e := range events {
		switch d := e.Data.(type) {
		case event.Delta:
			d.BlockID = ""
			events[i].Data = d
		case event.Thinking:
			d.BlockID = ""
			events[i].Data = d
		}
	}
	return some(events, func(e event.Event) bool { return e.Type() == event.TypeBlockEnd })
}

// unannounced moves the events that report sub-agents behind the events of the
// sub-agents. It returns nil if there are none.
func unannounced(events []event.Event) []event.Event {
	var out, late []event.Event
	none := true
	for _, e := range events {
		_, task := e.Data.(event.Task)
		start, tool := e.Data.(event.ToolStart)
		switch {
		case task, tool && start.SubagentSpawn:
			late, none = append(late, e), false
			continue
		case e.Terminal() && e.SubagentID == "", e.Type() == event.TypeSessionEnd:
			for _, l := range late {
				l.TS = e.TS
				out = append(out, l)
			}
			late = nil
		}
		out = append(out, e)
	}
	if none {
		return nil
	}
	return append(out, late...)
}

func unheard(events []event.Event) []event.Event {
	return some(events, func(e event.Event) bool {
		start, tool := e.Data.(event.ToolStart)
		return e.Type() == event.TypeTask || tool && start.SubagentSpawn
	})
}

func takenBack(events []event.Event) []event.Event {
	none := true
	for i, e := range events {
		if d, ok := e.Data.(event.BlockEnd); ok {
			d.Status, d.Text, none = event.BlockRetracted, "", false
			events[i].Data = d
		}
	}
	if none {
		return nil
	}
	return events
}

// between inserts an event in the middle.
func between(events []event.Event, of func(before event.Event) event.Data) []event.Event {
	if len(events) == 0 {
		return nil
	}
	at := (len(events) + 1) / 2
	e := events[at-1]
	return slices.Insert(events, at, event.Event{Data: of(e), TS: e.TS, SessionID: e.SessionID})
}

func restarted(events []event.Event) []event.Event {
	ready := events[0].Data
	return between(events, func(event.Event) event.Data { return ready })
}

func failed(events []event.Event) []event.Event {
	return between(events, func(event.Event) event.Data {
		return event.Error{Code: event.ErrorCrash, Message: "gone"}
	})
}

func doubled(events []event.Event) []event.Event {
	var out []event.Event
	for _, e := range events {
		again := e
		if d, ok := e.Data.(event.ToolResult); ok { // the repetition has fewer fields
			d.Changes, d.Output, d.FilePath, d.IsFileRead = nil, "", "", false
			again.Data = d
		}
		out = append(out, e, again)
	}
	return out
}
