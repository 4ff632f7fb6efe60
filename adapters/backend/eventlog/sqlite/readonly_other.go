//go:build !unix

package sqlite

func isReadOnlyFS(error) bool { return false }
