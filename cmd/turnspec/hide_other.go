//go:build !linux

package main

// hideProcess does nothing: only Linux has /proc/PID/environ.
func hideProcess() error { return nil }
