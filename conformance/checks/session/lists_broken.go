package session

import (
	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var listsByTitle = broken.Adapter{
	Name: "lists-by-title", Sentence: "gives the entries of a list their titles as ids",
	Proves: "session.lists",
	Mutation: broken.Mutation{List: func(list []adapters.Listed) []adapters.Listed {
		for i := range list {
			list[i].ID = list[i].Title
		}
		return list
	}},
}

var listsTheFirstPage = broken.Adapter{
	Name: "lists-the-first-page", Sentence: "leaves the last entry of a list out",
	Proves:   "session.lists",
	Mutation: broken.Mutation{List: func(list []adapters.Listed) []adapters.Listed { return list[:max(len(list)-1, 0)] }},
}

var listsTwice = broken.Adapter{
	Name: "lists-twice", Sentence: "lists the first entry of a list once more at its end",
	Proves: "session.lists",
	Mutation: broken.Mutation{List: func(list []adapters.Listed) []adapters.Listed {
		return append(list, list[:min(len(list), 1)]...)
	}},
}

var listsAllAsConnected = broken.Adapter{
	Name: "lists-all-as-connected", Sentence: "lists each MCP server as connected",
	Proves: "session.lists", Runtime: "claude", Why: "Codex reports no state of a server",
	Mutation: broken.Mutation{List: func(list []adapters.Listed) []adapters.Listed {
		for i := range list {
			list[i].Status = "connected"
		}
		return list
	}},
}
