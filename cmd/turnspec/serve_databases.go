//go:build databases

package main

import (
	"context"

	"github.com/turnspec/turnspec/cmd/turnspec/internal/databases"
)

func init() {
	openDatabase = func(ctx context.Context, address string) (sharedLog, error) { return databases.Open(ctx, address) }
}
