// Package servers gives the suite the MCP servers of scenarios, for subjects that start them
// themselves. It is not part of the stable interface.
//
// Package fakes/mcp runs them, with a library that itself brings six modules. A test of an
// adapter imports it only if its adapter starts servers:
//
//	import _ "github.com/turnspec/turnspec/fakes/mcp"
//
// Without it the cases with such servers are not tried.
package servers

import (
	"context"
	"errors"
	"io"

	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/fixtures"
)

// ErrNone is why a case with servers is not tried in a program without them.
var ErrNone = errors.New("the adapter starts MCP servers itself: import github.com/turnspec/turnspec/fakes/mcp to try such cases")

// Maker makes the servers of a scenario.
type Maker interface {
	// Local makes those that run within this program. Programs that are no servers are started
	// by others. A call that waits for a file calls await. The caller closes the Local.
	Local(of []fixtures.Server, others proc.Launcher, await func(ctx context.Context, file string) error) Local
	// Install puts those that a client starts into a folder, as programs.
	Install(dir string, of []fixtures.Server) error
	// Listen serves those that run already. It returns the address: "" if there is none.
	Listen(addr string, of []fixtures.Server) (address string, end io.Closer, err error)
	// Main runs a server if the program was started as one. args are those of the program, with
	// its name.
	Main(args []string) (handled bool, code int)
}

// Local are servers within this program.
type Local interface {
	proc.Launcher
	proc.Dialer
	io.Closer
}

var maker Maker

// Register sets what makes servers. It is called by an init function.
func Register(m Maker) { maker = m }

// Get returns what makes servers, or nil.
func Get() Maker { return maker }
