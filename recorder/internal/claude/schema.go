package claude

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/turnspec/turnspec/fixtures/schema"
	"github.com/turnspec/turnspec/recorder/internal/drive"
	"github.com/turnspec/turnspec/recorder/runtimes"
)

//go:embed dts.mjs
var dts []byte

// typescript is the version of the compiler that reads the SDK's declarations.
const typescript = "5.9.3"

// readSchema reads the published types of the SDK, which the npm registry has.
// Version 2.1.N of Claude Code belongs to version 0.3.N of the SDK. Only the
// declarations are read; none of the package's scripts is run.
func readSchema(ctx context.Context, rt runtimes.Runtime, tmp string) (*schema.Schema, error) {
	n, ok := strings.CutPrefix(rt.Version, "2.1.")
	if !ok {
		return nil, fmt.Errorf("the SDK of Claude Code %s is not known: 0.3.N belongs to 2.1.N", rt.Version)
	}
	env := []string{"HOME=" + tmp}
	_, err := drive.Output(ctx, env, "npm", "install", "--prefix", tmp, "--ignore-scripts", "--omit=optional", "--no-audit", "--no-fund", "--silent",
		"@anthropic-ai/claude-agent-sdk@0.3."+n, "typescript@"+typescript)
	if err != nil {
		return nil, err
	}
	script := filepath.Join(tmp, "dts.mjs")
	if err := os.WriteFile(script, dts, 0o600); err != nil {
		return nil, err
	}
	out, err := drive.Output(ctx, env, "node", script, tmp)
	if err != nil {
		return nil, err
	}
	return schema.Parse("dts.mjs", out)
}
