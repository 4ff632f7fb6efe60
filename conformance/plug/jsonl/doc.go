// Package process answers one question: how does a program in any language stand
// as a subject?
//
// It is started by a command and speaks JSON lines over stdio: commands come on
// its stdin, replies and events go to its stdout. PROTOCOL.md is the whole of
// it, and Schema describes each line. The program looks for its runtime as it
// always does, and finds the stand-in.
//
// Whatever is wrong with what the program writes ends its session with a
// *PlugError, which says what to do next.
package jsonl
