// Package jsonl lets a program in any language be a subject.
//
// The program is started by a command and speaks JSON lines over stdio: it reads
// commands from stdin and writes replies and events to stdout. PROTOCOL.md
// describes the protocol and Schema each line. The program looks for its runtime
// as it always does, and finds the stand-in.
//
// A line that breaks the protocol ends the session with a *plug.Error, which
// describes what to do next.
package jsonl

//go:generate go test -run TestOperations -update .
//go:generate go test -run TestTypes -update .
