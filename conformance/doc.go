// Package conformance answers one question: does an adapter conform?
//
// A Subject (an adapter under test) performs the recorded cases against a
// stand-in runtime, in virtual time; checks judge what it did against the
// witness, the record of what the scripted model really said. Nothing here
// fails a test or prints: a run gives values, a report or a test skin shows
// them. Tiers:
//
//	witness   any subject, stand-in in play, judged by the witness
//	golden    the reference adapters: events, chat and what they write equal the stored ones
//	timing    virtual time, exact to the nanosecond
//	process   real time and real processes: a subject that is a program (package process)
//	live      the subject drives the real runtime against the scripted model
//
// A stranger's adapter implements Subject in a page; see the example.
//
// # From a case to a verdict
//
// A director leads the subject through the scenario's acts (open, send, answer,
// stop …). In play the stand-in plays one recorded line, waits until nothing
// moves, and plays the next; each act falls where it fell in the recording. The
// outcome is a Run: the events with the moment, the line and the act at which
// they came, what the subject wrote, how each act went. Checks that want it get
// more runs of the same case: one for each place of a fault (Check.Harm, judged by
// Check.JudgeHarm), one with another end (Check.Instead). A fault is tried at
// Config.Places of its places, picked by Config.Seed, or at all.
//
// A check looks at these runs, counts what it looked at, and notes problems:
//
//	pass             it looked at something and noted nothing
//	sent             the same, in play, of what only the live tier can prove
//	fail             it noted problems
//	not applicable   the scenario holds nothing for it to look at
//	not expressible  the subject declared that it has no steer, or no way to answer a question
//	                 (an error that is adapters.ErrUnsupported)
//	unrecorded       the subject did what the case does not hold, so that what came after it is
//	                 neither right nor wrong; checks of what the subject writes judge all the same
//	harness error    the harness could not play the case: nobody's fault but ours
//
// Fail and harness error fail the suite where the check is a MUST; a SHOULD
// warns. Whatever else there is, a check that gave no verdict on any case fails
// the suite too (Report.Missing), unless only some cases were asked for.
//
// # Known failures, and shards
//
// A failure that Config.Known names (ParseKnown reads a file of them) fails
// nothing, and one that fails no more does: so the list only gets shorter. A run
// may be one of several (Config.Shard), each case being in exactly one;
// package report joins them. What only the whole can tell, a shard does not
// judge: checks without a verdict, and known failures that are stale.
//
// # What hangs, and what panics
//
// An act that does not return within ten minutes of virtual time, or panics, is
// an error of that act: session.returns fails, and the scenario ends there. A
// bubble in which all wait for ever is a Run with Hang; so is a subject that
// never comes to rest (it spins, or waits for a lock) after two minutes of real
// time, whose goroutines then stay. A panic in a goroutine that the subject
// itself started ends the program: Go lets nobody else catch it. With
// Config.Isolate all this happens in worker processes (package worker), and such
// an end is the verdict of the case at hand, with the first lines of the stack.
//
// # When all is over
//
// A session that was closed, or that a fault has ended, is done to once more what
// a client does who has not noticed: a message, a stop, a close (Run.After). A tool
// or hook whose answer nobody wants any more takes a second to return, and Close
// waits for it.
//
// # What is exact
//
// After a crash (turn.crash-ends): the events of the plain run for the lines
// before, then only what closes what is open, then one error with the code
// crash if a turn ran or an accepted message waited, then session_end and
// nothing more, within EndLimit and without Close; an Open that fails by it
// says so with an *adapters.OpenError. When the runtime goes silent for good
// (turn.stall-ends): the same, with the code timeout, within StallLimit, but for
// a turn in which a tool, a question, a summary or an announced retry is open.
// A request that is refused (turn.refused) is told by the act, an error or a
// notice. With a harmless fault: the same events, and one notice that holds the
// message where there was an unknown one. In
// virtual time: no event at a moment at which nothing happened, and when a line
// has been played, what it brought (text, thinking, a tool call or its result,
// the end of a turn) is out.
package conformance
