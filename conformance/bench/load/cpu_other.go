//go:build !unix

package load

func cpu() int64 { return 0 }
