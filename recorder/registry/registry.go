// Package registry lists the runtimes that the recorder can drive. It is not part of the
// stable interface.
package registry

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/turnspec/turnspec/fixtures/schema"
	"github.com/turnspec/turnspec/recorder/internal/acp"
	"github.com/turnspec/turnspec/recorder/internal/chat"
	"github.com/turnspec/turnspec/recorder/internal/claude"
	"github.com/turnspec/turnspec/recorder/internal/codex"
	"github.com/turnspec/turnspec/recorder/internal/codexexec"
	"github.com/turnspec/turnspec/recorder/internal/drive"
	"github.com/turnspec/turnspec/recorder/internal/opencode"
	"github.com/turnspec/turnspec/recorder/internal/opencoderun"
	"github.com/turnspec/turnspec/recorder/internal/pi"
	"github.com/turnspec/turnspec/recorder/runtimes"
)

// all is the registry. A new runtime is one line here.
var all = []*drive.Runtime{
	claude.Runtime,
	codex.Runtime,
	codexexec.Runtime,
	opencode.Runtime,
	opencoderun.Runtime,
	pi.Runtime,
	acp.Runtime,
	chat.Runtime,
}

// All returns the runtimes.
func All() []*drive.Runtime { return slices.Clone(all) }

// Get returns the runtime of this name, or an error that lists the names there
// are.
func Get(name string) (*drive.Runtime, error) {
	names := make([]string, len(all))
	for i, r := range all {
		if r.Wire.Name == name {
			return r, nil
		}
		names[i] = r.Wire.Name
	}
	return nil, fmt.Errorf("the recorder has no client for runtime %q, only for %s", name, strings.Join(names, ", "))
}

// Connect returns how a runtime is started so that it sends its requests to the
// scripted model and offers what a scenario needs. Any client can start it so.
func Connect(runtime, version, mode string, needs []string, modelURL string) (drive.Connection, error) {
	r, err := Get(runtime)
	if err != nil {
		return drive.Connection{}, err
	}
	return r.Connect(version, mode, needs, modelURL)
}

// ErrNoSchema reports that there is no schema to read.
var ErrNoSchema = errors.New("its vendor publishes no schema of its wire")

// ReadSchema reads what the vendor of an installed runtime publishes about its
// wire. The error is ErrNoSchema if that is nothing.
func ReadSchema(ctx context.Context, rt runtimes.Runtime) (*schema.Schema, error) {
	r, err := Get(rt.Name)
	if err != nil {
		return nil, err
	}
	if r.ReadSchema == nil {
		return nil, ErrNoSchema
	}
	tmp, err := os.MkdirTemp("", "turnspec-schema-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(tmp) }()
	return r.ReadSchema(ctx, rt, tmp)
}
