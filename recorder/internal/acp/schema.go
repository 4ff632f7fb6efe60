package acp

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/turnspec/turnspec/fixtures/schema"
	"github.com/turnspec/turnspec/recorder/internal/drive"
	"github.com/turnspec/turnspec/recorder/runtimes"
)

// sdk is the package that the agents read lines with. It holds the schema of the protocol.
const sdk = "@agentclientprotocol/sdk"

// bundledSDK is the version of the package that opencode contains, as its package.json states.
const bundledSDK = "0.21.0"

// readSchema reads the schema that the agent checks its client's lines with. It is a file of the
// package beside the agent, or, of an agent that is one file, from the npm registry.
func readSchema(ctx context.Context, rt runtimes.Runtime, tmp string) (*schema.Schema, error) {
	dir := filepath.Join(rt.Root, "node_modules", filepath.FromSlash(sdk), "schema")
	if strings.HasPrefix(rt.Version, "opencode-") {
		_, err := drive.Output(ctx, []string{"HOME=" + tmp}, "npm", "install", "--prefix", tmp, "--ignore-scripts", "--omit=peer",
			"--no-audit", "--no-fund", "--silent", sdk+"@"+bundledSDK)
		if err != nil {
			return nil, err
		}
		dir = filepath.Join(tmp, "node_modules", filepath.FromSlash(sdk), "schema")
	}
	// Since version 2 the package has a folder for each version of the protocol, and demands that
	// a line names JSON-RPC 2.0. It reads lines by the schema with what is not yet stable.
	b, err := os.ReadFile(filepath.Join(dir, "v1", "schema.unstable.json"))
	if errors.Is(err, fs.ErrNotExist) {
		if b, err = os.ReadFile(filepath.Join(dir, "schema.json")); err != nil {
			return nil, err
		}
		return schema.ReadACP(b)
	}
	if err != nil {
		return nil, err
	}
	s, err := schema.ReadACP(b)
	if err != nil {
		return nil, err
	}
	const line = "ClientLine"
	s.Roots = append(s.Roots, schema.Root{Kind: schema.Message, Name: "stdin", Type: line})
	s.Types[line] = schema.Type{Fields: []schema.Field{{Name: "jsonrpc", Type: `"2.0"`}}}
	return s, nil
}
