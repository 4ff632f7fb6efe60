package explore

import "slices"

// A move is a part of a scenario that a client and a model play: a turn or something
// between two turns (grammar), a reply of the model within a turn (rounds), or the end of
// a turn (endings).
type move struct {
	name    string
	weight  int
	when    func(g *Ground) bool // what a runtime must do beside having the abilities; nil: nothing
	modes   []string             // the permission modes in which it can happen; nil: all
	after   int                  // how many turns must have ended well before
	compose func(c *composer)
}

func (m move) is(other move) bool { return m.name == other.name }

// tries is with how many seeds a move is tried to find out whether a runtime can do it.
const tries = 8

// possible reports whether a runtime can do the move in a mode, with some seed.
func (m move) possible(g *Ground, mode string) bool {
	if m.when != nil && !m.when(g) || m.modes != nil && !slices.Contains(m.modes, mode) {
		return false
	}
	if m.compose == nil {
		return true // a turn
	}
	for seed := range uint32(tries) {
		if g.allows(m, mode, seed) {
			return true
		}
	}
	return false
}

// The names of moves that a plan treats in a special way.
const (
	turnMove       = "turn"
	askFromNowMove = "ask-from-now"
)

var (
	neverOnly = []string{"never"}
	askOnly   = []string{"ask"}
	noPlan    = []string{"never", "ask"}
	planOnly  = []string{"plan"}
)

// Where a message goes that is sent while a turn runs.
var (
	joinsText = func(g *Ground) bool { return g.has("joins-turn") }                      // into the turn, at once
	joinsTool = func(g *Ground) bool { return g.has("joins-turn") || g.has("priority") } // with the next result
	isQueued  = func(g *Ground) bool { return !g.has("joins-turn") }
	// asksInTurns reports whether a turn can ask the user. That the mode can be set does not say so: a
	// runtime without a client that answers takes it and asks nobody.
	asksInTurns = func(g *Ground) bool {
		return slices.ContainsFunc(g.modesOf(), func(m mode) bool { return m.name == askOnly[0] })
	}
	// waitsForAgents reports whether the model waits for a sub-agent by the call that starts it.
	waitsForAgents = func(g *Ground) bool { return !g.has("delegate") }
)

// grammar lists the turn and what happens between turns.
var grammar = []move{
	{name: turnMove, weight: 40},
	{name: "stop-when-idle", weight: 1, when: func(g *Ground) bool { return g.stopsIdle }, after: 1, compose: stopWhenIdle},
	{name: "resume", weight: 5, after: 1, compose: resume},
	{name: "fork", weight: 2, after: 1, compose: fork},
	{name: "kill", weight: 2, after: 1, compose: kill},
	{name: "compact", weight: 2, after: 2, compose: compact},
	{name: askFromNowMove, weight: 2, when: asksInTurns, modes: neverOnly, after: 1, compose: askFromNow},
	{name: "other-model", weight: 1, when: func(g *Ground) bool { return g.otherModel != "" }, after: 1, compose: otherModel},
	{name: "name", weight: 1, after: 1, compose: nameSession},
	{name: "revert", weight: 2, after: 2, compose: revert},
	{name: "archive", weight: 1, after: 1, compose: archive},
	{name: "tasks-end", weight: 3, compose: (*composer).finishTasks},
}

// rounds lists what happens in a turn before its end.
var rounds = []move{
	{name: "quick", weight: 10, modes: noPlan, compose: quickTools},
	{name: "read", weight: 3, compose: readTool},
	{name: "waits", weight: 6, modes: neverOnly, compose: waitingTool},
	{name: "parallel-waits", weight: 2, modes: neverOnly, compose: parallelPipes},
	{name: "files", weight: 4, modes: neverOnly, compose: fileTools},
	{name: "wrong", weight: 3, modes: noPlan, compose: wrongTool},
	{name: "client", weight: 3, modes: neverOnly, compose: clientTool},
	{name: "server", weight: 3, modes: neverOnly, compose: serverTool},
	{name: "todo", weight: 2, modes: neverOnly, compose: todoTool},
	{name: "background", weight: 3, modes: neverOnly, compose: backgroundTool},
	{name: "held", weight: 5, compose: heldReply},
	{name: "message-meanwhile", weight: 4, when: joinsTool, modes: neverOnly, compose: messageDuringTool},
	{name: "message-into", weight: 4, when: joinsText, compose: messageIntoText},
	{name: "message-queued", weight: 4, when: isQueued, compose: messageQueued},
	{name: "once-failed", weight: 3, compose: failedOnce},
	{name: "cut", weight: 4, compose: cutAndRetried},
	{name: "asks", weight: 14, modes: askOnly, compose: askedTool},
	{name: "asks-twice", weight: 4, modes: askOnly, compose: askedTwice},
	{name: "message-while-asked", weight: 3, when: joinsTool, modes: askOnly, compose: messageWhileAsked},
	{name: "question", weight: 10, modes: planOnly, compose: userQuestion},
	{name: "agent", weight: 4, when: waitsForAgents, modes: noPlan, compose: agentInFront},
	{name: "agents", weight: 2, when: waitsForAgents, modes: noPlan, compose: agentsInParallel},
	{name: "agent-beside", weight: 4, modes: noPlan, compose: agentBeside},
	{name: "search", weight: 2, when: func(g *Ground) bool { return g.hostsSearch }, compose: hostedSearch},
}

// endings lists how a turn ends.
var endings = []move{
	{name: "answer", weight: 20, compose: answer},
	{name: "stopped-in-text", weight: 5, compose: stopInText},
	{name: "stopped-in-tool", weight: 4, modes: neverOnly, compose: stopInTool},
	{name: "stopped-in-input", weight: 2, modes: noPlan, compose: stopInInput},
	{name: "stopped-while-asked", weight: 4, modes: askOnly, compose: stopWhileAsked},
	{name: "cancelled", weight: 3, modes: askOnly, compose: cancelAnswer},
	{name: "stopped-in-question", weight: 2, modes: planOnly, compose: stopInQuestion},
	{name: "stopped-in-client-tool", weight: 2, modes: neverOnly, compose: stopInClientTool},
	{name: "failed", weight: 3, compose: failForGood},
	{name: "failed-in-text", weight: 3, compose: failInText},
	{name: "short", weight: 2, compose: shortAnswer},
	{name: "silent", weight: 1, compose: silentAnswer},
	{name: "killed", weight: 1, after: 1, compose: killInText},
}

// maxRounds is how many rounds a turn of a new plan has at most before its end.
const maxRounds = 4
