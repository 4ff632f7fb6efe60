// Package relay lets a play in this program act as a process that another program starts.
// It is not part of the stable interface.
//
// A client that is a program looks for its runtime in PATH, or where a variable points. A
// Post puts a program of the runtime's name there: this program under another name, which
// only carries bytes and signals between its client and the play (package fakes/standin),
// over a socket. So the play has all its state in this process.
//
//	client ──argv, stdin, signals──► stand-in program ──socket──► Post ──► Launcher of a Play
//	       ◄─stdout, stderr, exit───                  ◄──────────
//
// A program that may be started as a stand-in calls Main first.
package relay
