package schema

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/turnspec/turnspec/recorder/runtimes"
)

//go:embed dts.mjs
var dts []byte

// typescript reads the SDK's declarations; its version is pinned as theirs are.
const typescript = "5.9.3"

// Read asks an installed runtime, or what its vendor published for it. Of Codex
// it runs the binary, which needs no network; of Claude Code it gets the SDK of
// the same number from the npm registry: declarations only, none of its scripts
// is run.
func Read(ctx context.Context, rt runtimes.Runtime) (*Schema, error) {
	tmp, err := os.MkdirTemp("", "turnspec-schema-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(tmp) }()
	switch rt.Name {
	case "codex":
		return readCodex(ctx, rt, tmp)
	case "claude":
		return readClaude(ctx, rt.Version, tmp)
	}
	return nil, fmt.Errorf("%s says nothing of its wire", rt.Name)
}

func readCodex(ctx context.Context, rt runtimes.Runtime, tmp string) (*Schema, error) {
	generate := []string{"app-server", "generate-json-schema", "--out", tmp}
	if err := run(ctx, tmp, rt.Binary, append(generate, "--experimental")...); err != nil {
		// older versions write all they have without being asked
		if err := run(ctx, tmp, rt.Binary, generate...); err != nil {
			return nil, err
		}
	}
	s := &Schema{Types: map[string]Type{}}
	for _, f := range []struct{ kind, file string }{
		{Notification, "ServerNotification.json"}, {ServerRequest, "ServerRequest.json"}, {Request, "ClientRequest.json"},
	} {
		b, err := os.ReadFile(filepath.Join(tmp, f.file))
		if err != nil {
			return nil, err
		}
		if err := s.addJSONSchema(f.kind, b); err != nil {
			return nil, fmt.Errorf("%s: %w", f.file, err)
		}
	}
	return s, nil
}

// readClaude: version 2.1.N of Claude Code goes with 0.3.N of its SDK.
func readClaude(ctx context.Context, version, tmp string) (*Schema, error) {
	n, ok := strings.CutPrefix(version, "2.1.")
	if !ok {
		return nil, fmt.Errorf("which SDK goes with Claude Code %s is not known: 0.3.N goes with 2.1.N", version)
	}
	err := run(ctx, tmp, "npm", "install", "--prefix", tmp, "--ignore-scripts", "--omit=optional", "--no-audit", "--no-fund", "--silent",
		"@anthropic-ai/claude-agent-sdk@0.3."+n, "typescript@"+typescript)
	if err != nil {
		return nil, err
	}
	script := filepath.Join(tmp, "dts.mjs")
	if err := os.WriteFile(script, dts, 0o600); err != nil {
		return nil, err
	}
	out, err := exec.CommandContext(ctx, "node", script, tmp).Output()
	if err != nil {
		return nil, told(err)
	}
	return Parse("dts.mjs", out)
}

func run(ctx context.Context, home, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(os.Environ(), "HOME="+home, "CODEX_HOME="+home)
	_, err := cmd.Output()
	return told(err)
}

// told adds what a program said on stderr.
func told(err error) error {
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return fmt.Errorf("%w: %s", err, strings.TrimSpace(string(exit.Stderr)))
	}
	return err
}
