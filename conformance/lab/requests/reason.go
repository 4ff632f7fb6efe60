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
	{"codex", "initialized method", anyChange, TooStrict, "wire.valid-input", "the runtime ignores a notification without a method, but no client means to write one"},
	{"", "answer", refusal.EditTwice, TooStrict, "wire.valid-input", secondReply},
	{"pi", "extension_ui_response", refusal.EditTwice, TooStrict, "wire.valid-input", secondReply},
	{"codex", "answer result.content", refusal.EditType, TooStrict, "wire.valid-input", "the runtime reads no content of an approval, but its schema demands an object"},
	{"codex", "answer result.answers", anyChange, TooStrict, "wire.valid-input", "the reply comes while the turn is stopped: what the runtime makes of it differs by chance"},
	{"codex", "answer result.answers", anyChange, Unseen, "", "the reply comes while the turn is stopped: what the runtime makes of it differs by chance"},
	{"codex", "*", refusal.EditTwice, TooStrict, "turn.notices", "both requests have the same id, and the runtime was not seen to reply to the second"},
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
