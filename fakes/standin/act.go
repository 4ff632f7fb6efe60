package standin

import (
	"github.com/go-json-experiment/json/jsontext"
)

// Kind says what a client did.
type Kind string

// The kinds of acts. Open, send, steer, answer, stop, set, life and close are
// barriers, and so is junk that was recorded; the rest never halts a play.
const (
	KindOpen    Kind = "open" // the handshake, and a thread's or session's start, resume or fork
	KindSend    Kind = "send"
	KindSteer   Kind = "steer"
	KindAnswer  Kind = "answer"
	KindStop    Kind = "stop"
	KindSet     Kind = "set"
	KindSession Kind = "life"  // changes the session as a whole: revert, compact, archive, rewind …
	KindTask    Kind = "task"  // ends what runs in the background, or takes a message back
	KindClose   Kind = "close" // stdin was closed
	KindRead    Kind = "read"  // reads and configuration
	KindNote    Kind = "note"  // needs no reply and changes nothing: initialized, keep_alive
	KindSignal  Kind = "signal"
	KindJunk    Kind = "junk" // not a line of this wire
)

// The decisions of answers.
const (
	Allow  = "allow"
	Deny   = "deny"
	Cancel = "cancel" // deny, and stop
	Value  = "value"  // an answer with content: to a question, a form, a tool of the client
	Failed = "error"  // an error reply
)

// The scopes of an allow.
const (
	session = "session"
	always  = "always"
)

// act is a line of a client, understood.
type act struct {
	kind    Kind
	method  string         // or the subtype of a control request
	id      jsontext.Value // of the request, as it stands in the line
	params  jsontext.Value // of a request, or the request of a control request
	text    string         // of a message; the value of a set
	thread  string         // the thread or session that it names
	turn    string         // the turn that it names
	chose   string         // the message id that the client chose
	mode    string         // the permission mode that it sets
	cwd     string         // where the session that it opens works
	words   string         // of a denial: what the model is told
	answer  answer
	caps    capabilities // of an initialize
	hooks   hooks        // likewise
	passing bool         // opens a thread that is not kept
	soft    bool         // a barrier only until a later act comes
	sets    settings     // what it chooses for the session
	opens   string       // which session or thread it opens, and how
	free    bool         // no barrier: the recording's client did it, another one may not
	names   string       // what a task act names; the priority of a message
}

// answer is a reply to a request of the runtime.
type answer struct {
	decision string
	value    jsontext.Value // of Value; of an allow that says what to run instead
	scope    string         // of an allow that holds for more than this once: session, always
}

// capabilities are what a client of codex asks for in its initialize.
type capabilities struct {
	Experimental bool     `json:"experimentalApi"`
	OptOut       []string `json:"optOutNotificationMethods"`
}

// halts reports whether output stops at the act.
func (a *act) halts() bool {
	return !a.free && a.kind != KindRead && a.kind != KindNote
}

// said is what a play needs to know of a line of the runtime.
type said struct {
	reply  jsontext.Value // the id of the client's request that it replies to
	asks   jsontext.Value // the id of its own request
	input  jsontext.Value // of asks: what is to run, or the question
	asked  string         // of asks: its method, or the subtype of a control request
	tool   string         // of asks: the tool call that it is about, or the MCP tool where it names no call
	drops  jsontext.Value // the id of its own request that it takes back
	call   string         // of asks: the id of the call that it makes of a tool of the client
	ends   string         // such an id: the call is over, and its request may want an answer all the same
	hook   string         // the callback of the client that it asks
	method string         // of a notification
	label  label
	turn   int      // 1 begins a turn, -1 ends one
	thread string   // whose turn it is, or whose question; "" for the session's
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
	// extras names members of a line that only some clients get, and gets
	// says whether this one does; ids are the messages that the line is about.
	extras(s *said) []string
	gets(extra string, ids []string, l *launch) bool
	// misfit says why a reply to a request of that method is none that the runtime
	// understands, or "".
	misfit(asked string, reply []byte) string
	// started are the settings of a command line.
	started(argv, env []string) settings
	// mode is the permission mode that a client asks for at the start, and
	// modeMember where a line says which one is set: within its quotes.
	mode(argv []string) string
	modeMember(line []byte) (span, bool)
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
	// waitsFor says that a recorded signal was its client's act: the play halts
	// there until it comes.
	waitsFor(signal string) bool
	// input is all of stdin as one act, where it is no series of lines.
	input(l *launch, stdin []byte) (all []byte, ok bool)
}
