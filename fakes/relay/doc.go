// Package relay answers one question: how does a play in this program act as a
// process that another program starts?
//
// A client that is a program looks for its runtime in PATH, or where a variable
// tells it. A Post puts a program of the runtime's name there: this very program
// under another name, which only carries bytes and signals between whoever
// started it and the play (package fakes/standin), over a socket. So the play
// knows all that it knows in process: what was written, what it may play next,
// and what was harmed.
//
//	client ──argv, stdin, signals──► stand-in program ──socket──► Post ──► Launcher of a Play
//	       ◄─stdout, stderr, exit───                  ◄──────────
//
// A program that is to be started as a stand-in calls Main before anything else.
package relay
