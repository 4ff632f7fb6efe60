package requests

import (
	"slices"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fixtures/refusal"
)

// reason is why the stand-in does not agree with a runtime in some changes.
type reason struct {
	runtime string // "": any
	fact    string // a glob
	change  refusal.Edit
	verdict Verdict
	check   string // that alone fails; "": any
	why     string
}

// Any change, in a reason.
const anyChange refusal.Edit = ""

const (
	secondReply = "the runtime ignores a second reply, but no client means to write one"
	ownWords    = "texts of several words may be the client's own, and are not compared with the recorded ones"
	models      = "which models there are depends on the account and the settings: nothing shows that the runtime has no such one"
)

var reasons = []reason{
	{"claude", "argv --permission-prompt-tool", refusal.EditOther, TooKind, "", "the runtime exits when it has to ask: the recording does not show which tools a client's own servers bring for that"},
	{"claude", "answer response.response.updated*", refusal.EditOther, Unseen, "", ownWords},
	{"claude", "answer response.response.message", anyChange, Unseen, "", "the model gets other words, and the stand-in makes no request"},
	{"pi", "argv -e", refusal.EditLeftOut, Unseen, "", "the runtime asks nobody then, but the stand-in plays the recorded question"},
	{"claude", "set_model request.model", refusal.EditOther, OtherAnswer, "", models},
	{"pi", "argv --model", refusal.EditOther, OtherAnswer, "", models},
	{"", "answer", refusal.EditTwice, TooStrict, "wire.valid-input", secondReply},
	{"pi", "extension_ui_response", refusal.EditTwice, TooStrict, "wire.valid-input", secondReply},
	{"codex", "answer result.content", refusal.EditType, TooStrict, "wire.valid-input", "the runtime reads no content of an approval, but its schema demands an object"},
	{"codex", "answer result.answers", anyChange, TooStrict, "wire.valid-input", "the reply comes while the turn is stopped: what the runtime makes of it differs by chance"},
	{"codex", "answer result.answers", anyChange, Unseen, "", "the reply comes while the turn is stopped: what the runtime makes of it differs by chance"},
	{"acp", "session/prompt", refusal.EditTwice, TooStrict, "wire.valid-input", "the agent ignores the second message in one scenario, and takes it in another"},
	{"acp", "session/* params.cwd", refusal.EditOther, OtherAnswer, "session.open-options", "the folder of a session need not exist in a play"},
	{"acp", "session/load params.sessionId", refusal.EditEmpty, OtherAnswer, "", "the agent opens a session without an id, and refuses the next request"},
	{"acp", "session/* params.mcpServers*", refusal.EditOther, Unseen, "", "the agent does not start the server, but the stand-in plays the recorded call"},
	{"opencode", "argv --hostname", refusal.EditOther, TooKind, "", "which names of hosts there are depends on the machine"},
	{"opencode", "PATCH/session/{session} body*", anyChange, TooStrict, "", "the server changes nothing then, but no client means to ask for that"},
	{"opencode", "PATCH/session/{session} path.session", refusal.EditEmpty, TooStrict, "", "the server does not refuse a path without a session, but no client means to write one"},
	{"opencode", "env OPENCODE_CONFIG_CONTENT", refusal.EditOther, TooKind, "", "the stand-in does not read the settings of a client"},
	{"codex", "initialize params.clientInfo.*", anyChange, Unseen, "", "the reply repeats the name and the version of the client, and the stand-in plays those of the recording's"},
	{"codex", "turn/start params.collaborationMode.settings.*", anyChange, Unseen, "", "the model gets another request, and the stand-in makes none"},
	{"codex", "thread/* params.excludeTurns", anyChange, Unseen, "", "the reply holds the turns, which the recording does not"},
}

// Reason returns why the stand-in does not agree in a row; "": it agrees, or no reason is known.
func Reason(runtime string, r *Row) string {
	for _, x := range reasons {
		if (x.runtime == "" || x.runtime == runtime) && x.verdict == r.Verdict && (x.change == anyChange || x.change == r.Change) &&
			conformance.Match(x.fact, r.Fact) && (x.check == "" || slices.Equal(r.Seen, []string{x.check})) {
			return x.why
		}
	}
	return ""
}

// Unexplained returns in how many rows the stand-in does not agree, and no reason is known.
func Unexplained(rows []Row) int {
	n := 0
	for _, r := range rows {
		if r.Verdict != Agrees && r.Reason == "" {
			n++
		}
	}
	return n
}
