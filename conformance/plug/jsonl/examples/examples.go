// Package examples holds adapters that speak the protocol of package jsonl without a
// library, each in one file.
package examples

import "embed"

// Files are the adapters, by language and runtime: python/codex.py.
//
//go:embed python typescript
var Files embed.FS
