// Package conformance offers a conformance suite for adapters of agent runtimes.
//
// An adapter wraps a runtime such as Claude Code or Codex and turns its wire
// protocol into one stream of events. The suite replays recorded cases to the
// adapter, collects its events, and judges them with named checks. It needs no
// key, no network and no installed runtime.
//
// To test an adapter, implement Subject, then call Run of package runner:
//
//	report, err := runner.Run(ctx, conformance.Config{
//		Corpus:   fixtures.Embedded(),
//		Subjects: []conformance.Subject{mySubject{}},
//		Checks:   checks.All(),
//	})
//
// If your adapter implements adapters.Adapter, Adapter makes a Subject of it. The
// example shows a complete Subject in one page. A subject in another language is
// a program: see the packages below plug.
//
// This package holds what a subject implements and what a run reports. The
// packages below it do the work: perform runs a scenario with a subject, checks
// has the rules, judge makes the verdicts, runner runs all cases, and report
// prints the result. None of them prints or fails a test by itself; package suite
// makes a Go test of a run.
//
// # Words
//
// A scenario is a script: the steps of a client (open, send, answer, stop …) and
// the replies of a model. A case is the recording of a scenario on one version of
// a runtime: its wire, and the witness. The witness is what the scripted model
// received and sent. It was recorded at the model's API, far from the wire that
// adapters read, so checks can compare events with it. The stand-in is the
// program that replays a case in place of the runtime.
//
// A Run is the record of one subject that performed one scenario: the events with
// their times, what the subject wrote to the runtime, and the result of each step.
// A Check judges runs. It counts its assertions, and notes a Problem for each that
// does not hold.
//
// A fault changes what the stand-in plays: it kills the process, splits lines, or
// inserts an unknown message. If a check wants faults, each is tried Config.Places
// times in each situation that the recordings of a version contain, such as "the text
// streams while a tool runs", and faults alike are tried in turn in the situations that
// follow a line which few cases have; Config.Seed picks the cases and places.
//
// # Tiers
//
// A check runs in one tier or more:
//
//	witness   the stand-in replays the case in virtual time; the witness judges
//	timing    the same; the check judges times, which are exact to the nanosecond
//	golden    the same; events, chat and written lines equal the stored ones
//	          (reference adapters only)
//	process   the stand-in and the subject are processes, in real time
//	live      the real runtime talks to the scripted model
//
// In virtual time the stand-in plays one recorded line, waits until every
// goroutine of the subject is blocked, and plays the next. Each step is taken at
// the point at which it was recorded.
//
// # Verdicts
//
//	pass             the check made assertions, and all of them held
//	sent             the subject wrote the right thing to the runtime; only the live
//	                 tier can prove that it reached the model
//	fail             an assertion did not hold
//	flaky            the check failed in real time, and did not fail again on a second
//	                 try of the case with the same faults
//	not applicable   the case has nothing that the check could assert
//	not expressible  the subject, or its protocol, has no way to do a step or to
//	                 report an event: its method is missing or returned
//	                 adapters.ErrUnsupported
//	not tried        the check could judge the case, but was not tried there, or the
//	                 case was not performed to its end: Result.Reason says why
//	unrecorded       the subject did something that the case does not hold, so what
//	                 followed is neither right nor wrong
//	not testable     something that the check needs is missing on this machine
//	harness error    the suite could not run the case; that is a bug of the suite
//
// Summaries count checks by five words, which README lists with the verdicts that each
// stands for: pass, fail, not applicable, not declared, not tried.
//
// What a subject returns decides between them (plug/jsonl/PROTOCOL.md says the same
// for programs, and what a fault may change):
//
//	Open   nil                        the session is ready for a message
//	       adapters.ErrUnsupported    it cannot honour an option: not expressible
//	       *adapters.OpenError        the runtime did not start; judged where the
//	                                  recorded runtime failed too, or a fault made it
//	       conformance.ErrProtocol    the program under test broke its protocol: fail
//	       another error              fail
//	Send   nil                        the message will be answered or reported
//	       adapters.ErrUnsupported    attachments, or a priority: not expressible; a
//	                                  message of text alone: fail
//	Answer, Stop, and each optional method (Steer, SetModel, Compact …)
//	       nil                        it was done
//	       adapters.ErrUnsupported    not expressible, unless Capabilities declare it
//	       adapters.ErrUnknownID, ErrNoTurn, ErrRefused, ErrClosed
//	                                  judged: right only where the step deserves it
//	       another error              judged as a refusal
//	Close  nil                        the session has ended and left nothing behind
//	       an error                   fail
//
// A method that the session does not have counts as one that returns
// adapters.ErrUnsupported. A method that panics, or does not return, fails.
//
// A suite fails if a check with severity MUST fails, is not testable, ends in a harness
// error, or is flaky and Config.FailOnFlaky is set. A SHOULD only warns. A suite also
// fails if no check gave a verdict, and if Report.Missing names one that gave none.
//
// # Known failures and shards
//
// A failure that Config.KnownFailures names does not fail the suite. A known
// failure that does not fail any more does, so the list only shrinks. An entry for a
// failure that comes and goes (KnownFailure.MayPass) is not stale if it passes.
// ParseKnownFailures reads such a list.
//
// Config.Shard runs a part of the cases; each case is in exactly one shard. Package
// report merges the reports. A shard judges neither missing checks nor stale known
// failures, because only the whole run can.
//
// # Hangs and panics
//
// A step that panics, or does not return within ten minutes of virtual time, ends
// the scenario, and session.returns fails. If all goroutines of a replay are
// blocked forever, or if it takes longer than Config.RealTimeLimit, Run.Hang holds
// the reason. The goroutines of such a replay leak. A panic in a goroutine that the
// subject started ends the program, because other goroutines cannot recover it. With
// Config.Isolate cases run in worker processes; such a panic is then the verdict of
// one case.
//
// # Budgets
//
// What a subject may emit in a step of the client is bounded, also while events keep coming: 10,000
// events, or 20 for each line that the stand-in has played if that is more; 16 MiB, or 4 bytes for
// each byte of those lines; and in real time 30 seconds after what the stand-in takes to play. One
// line of a program, or message of a server, has at most 16 MiB (plug.MaxLine): the suite reads no
// more of it, as it may have no end. No event has to repeat a longer line of the runtime. A
// subject that exceeds one ends the run, and turn.within-budget fails. Package perform
// (budget.go) has the numbers.
//
// # After the end
//
// After a session was closed, or ended because of a fault, the suite calls Send,
// Stop and Close once more, as a client that has not noticed would
// (Run.StepsAfterEnd). A tool or hook whose call was cancelled takes a second to
// return, and Close must wait for it.
//
// # What a fault may change
//
// If the runtime crashes (turn.crash-ends), the subject emits the events of the
// plain run up to the crash, then the events that close what is open, then one
// error with code crash if a turn ran or an accepted message was queued, then
// session_end and nothing more. It does so within perform.EndLimit and without
// Close. An Open that fails because of it returns an *adapters.OpenError.
//
// If the runtime stops writing (turn.stall-ends), the same holds with code timeout
// and perform.StallLimit, unless a tool, a question, a summary or an announced
// retry is open. A request that the runtime refuses (turn.refused) is reported by
// the step's error, by an error event or by a notice.
//
// With any other fault the events are those of the plain run, and one notice if
// there was an unknown message. In virtual time no event may come while nothing
// happens, and what a line brings (text, reasoning, a tool call or its result, the
// end of a turn) is emitted before the next line.
package conformance
