package adapters

import (
	"context"

	"github.com/turnspec/turnspec/adapters/event"
)

// Lister is a Session that lists what its runtime offers. List returns ErrUnsupported for a
// list that the runtime does not report.
type Lister interface {
	List(ctx context.Context, list List) ([]Listed, error)
}

// List is the name of a list.
type List string

// The lists.
const (
	ListModels   List = "models"
	ListCommands List = "commands" // that a message may begin with, after a slash
	ListMCP      List = "mcp"      // the MCP servers of the session
	ListAccount  List = "account"  // whom the runtime works for: one entry, or none
	ListSessions List = "sessions" // that the runtime has stored
)

// Listed is an entry of a list.
type Listed struct {
	// ID names the entry to the runtime: what SetModel, a message, MCPServer.Name or
	// Options.Resume has. Each ID is unique in its list.
	ID    string `json:"id"`
	Title string `json:"title,omitempty"` // for a user to read
	// Status is the state of an MCP server, in the runtime's words, if it reports one.
	Status string    `json:"status,omitempty"`
	Raw    event.Raw `json:"raw,omitzero"` // what the runtime reports of it
}
