package runtime

import (
	"github.com/go-json-experiment/json/jsontext"
)

// Kind says what a client did.
type Kind string

// The kinds of acts. Open, send, steer, answer, stop, set and close are
// barriers; the rest never halts a play.
const (
	KindOpen   Kind = "open" // the handshake, and a thread's or session's start, resume or fork
	KindSend   Kind = "send"
	KindSteer  Kind = "steer"
	KindAnswer Kind = "answer"
	KindStop   Kind = "stop"
	KindSet    Kind = "set"
	KindClose  Kind = "close" // stdin was closed
	KindRead   Kind = "read"  // reads and configuration
	KindNote   Kind = "note"  // needs no reply and changes nothing: initialized, keep_alive
	KindSignal Kind = "signal"
	KindJunk   Kind = "junk" // not a line of this wire
)

// The decisions of answers.
const (
	Allow  = "allow"
	Deny   = "deny"
	Cancel = "cancel" // deny, and stop
	Value  = "value"  // an answer with content: to a question, a form, a tool of the client
	Failed = "error"  // an error reply
)

// act is a line of a client, understood.
type act struct {
	kind   Kind
	method string         // or the subtype of a control request
	id     jsontext.Value // of the request, as it stands in the line
	text   string         // of a message; the value of a set
	thread string         // the thread or session that it names
	turn   string         // the turn that it names
	chose  string         // the message id that the client chose
	answer answer
	caps   capabilities // of an initialize
	soft   bool         // a barrier only until a later act comes
}

// answer is a reply to a request of the runtime.
type answer struct {
	decision string
	value    jsontext.Value // of Value; of an allow that says what to run instead
}

// capabilities are what a client of codex asks for in its initialize.
type capabilities struct {
	Experimental bool     `json:"experimentalApi"`
	OptOut       []string `json:"optOutNotificationMethods"`
}

// halts reports whether output stops at the act.
func (a *act) halts() bool {
	return a.kind != KindRead && a.kind != KindNote && a.kind != KindJunk
}

// said is what a play needs to know of a line of the runtime.
type said struct {
	reply  jsontext.Value // the id of the client's request that it replies to
	asks   jsontext.Value // the id of its own request
	input  jsontext.Value // of asks: what is to run, or the question
	drops  jsontext.Value // the id of its own request that it takes back
	method string         // of a notification
	label  label
	turn   int      // 1 begins a turn, -1 ends one
	thread string   // whose turn it is; "" for the session's
	about  []string // message ids that it is about (command_lifecycle)
	text   bool     // of a sub-agent: text or reasoning alone
	parent string   // the tool call whose sub-agent said it
}

// label marks lines that a client may not have asked for.
type label string

const (
	plain     label = ""
	partial   label = "partial"   // stream events
	replayed  label = "replayed"  // the client's own lines
	state     label = "state"     // session states
	lifecycle label = "lifecycle" // of messages that the client named
)

// notInitialized is why a request that comes too early is refused.
const notInitialized = "Not initialized"

// dialect is the wire of one runtime.
type dialect interface {
	// act reads a line of the client.
	act(line []byte) act
	// said reads a line of the runtime.
	said(line []byte) said
	// same reports whether the subject's act is the recorded one. tr translates
	// recorded ids into those of this play.
	same(recorded, subject *act, tr func(string) string) bool
	// idMember is where a reply has the id of its request.
	idMember() []string
	// refuse is the error reply to a request, or nil if the wire has none.
	refuse(a *act, why string) []byte
	// result is the successful reply to a request, from a recorded result.
	result(a *act, result jsontext.Value) []byte
	// setting is the value that recorded parameters set.
	setting(params jsontext.Value) string
	// fail is the error reply to a request, from a recorded error.
	fail(a *act, e jsontext.Value) []byte
	version(v string) string
	// mustInitialize says that nothing works before the handshake.
	mustInitialize() bool
	// closesAtOnce says that the runtime ends when stdin is closed, whatever
	// runs; otherwise it finishes its turn.
	closesAtOnce() bool
	// wants reports whether a client that was started so asked for the line.
	wants(s *said, l *launch) bool
	// onSignal is how the runtime ends.
	onSignal(s string) (code int, bySignal bool)
}
