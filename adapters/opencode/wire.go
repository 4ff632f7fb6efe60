package opencode

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/internal/opencodecli"
)

type (
	str     = opencodecli.Str
	num     = opencodecli.Num
	failure = opencodecli.Failure
	part    = opencodecli.Part
	input   = opencodecli.Input
)

// lenient accepts what the runtime really sends.
var lenient = opencodecli.Lenient

// decode reads a value. What has another form reads as the zero value.
func decode[T any](v jsontext.Value) T { return opencodecli.Decode[T](v) }

func isTrue(v jsontext.Value) bool { return opencodecli.IsTrue(v) }

// line is any line of the server: a reply, or an event of the stream.
type line struct {
	ID     num            `json:"id"`
	Ready  jsontext.Value `json:"ready"`
	Status num            `json:"status"`
	Stream jsontext.Value `json:"stream"`
	End    jsontext.Value `json:"end"`
	Body   jsontext.Value `json:"body"`
	Text   jsontext.Value `json:"text"`
	Error  str            `json:"error"`
	Data   jsontext.Value `json:"data"`
}

// serverEvent is an event of the stream.
type serverEvent struct {
	Type       str            `json:"type"`
	Properties jsontext.Value `json:"properties"`
}

// eventOf reads an event: alone, or as the stream of all directories wraps it.
func eventOf(v jsontext.Value) serverEvent {
	e := decode[struct {
		serverEvent
		Payload serverEvent `json:"payload"`
	}](v)
	if e.Type == "" {
		return e.Payload
	}
	return e.serverEvent
}

// properties are those of an event. Members whose kind differs between events are kept raw.
type properties struct {
	ID        str            `json:"id"`
	Session   str            `json:"sessionID"`
	RequestID str            `json:"requestID"`
	MessageID str            `json:"messageID"`
	PartID    str            `json:"partID"`
	Field     str            `json:"field"`
	Delta     str            `json:"delta"`
	Status    jsontext.Value `json:"status"`
	Error     jsontext.Value `json:"error"`
	Info      jsontext.Value `json:"info"`
	Part      jsontext.Value `json:"part"`
	Todos     jsontext.Value `json:"todos"`
	Reply     str            `json:"reply"`
	Response  str            `json:"response"` // Reply, of versions before 1.1
	Answers   jsontext.Value `json:"answers"`

	// Of permissions and questions.
	Permission str            `json:"permission"`
	Kind       str            `json:"type"` // Permission, of versions before 1.1
	Call       str            `json:"callID"`
	Closed     str            `json:"permissionID"` // RequestID, of versions before 1.1
	Metadata   jsontext.Value `json:"metadata"`
	Patterns   []str          `json:"patterns"` // what a permission is for
	Questions  jsontext.Value `json:"questions"`
	Tool       struct {
		Call str `json:"callID"`
	} `json:"tool"`
}

// olderAsked is permission.asked of versions before 1.1.
const olderAsked = "permission.updated"

// session returns the session of an event. Versions before 1.2 name it only in the part or in
// the message.
func (p *properties) session() string {
	if p.Session != "" {
		return string(p.Session)
	}
	if s := decode[part](p.Part).Session; s != "" {
		return string(s)
	}
	return string(decode[info](p.Info).Session)
}

// status is the state of a session.
type status struct {
	Type    str `json:"type"`
	Attempt num `json:"attempt"`
	Message str `json:"message"`
}

// info is a session or a message.
type info struct {
	ID        str            `json:"id"`
	Session   str            `json:"sessionID"`
	ParentID  str            `json:"parentID"`
	Role      str            `json:"role"`
	Model     str            `json:"modelID"`
	Provider  str            `json:"providerID"`
	Finish    str            `json:"finish"`
	Error     jsontext.Value `json:"error"`
	Version   str            `json:"version"`
	Directory str            `json:"directory"`
	Title     str            `json:"title"`
	Cost      num            `json:"cost"`
	Summary   jsontext.Value `json:"summary"`
	Answer    jsontext.Value `json:"structured"` // in the form that the client has asked for
	Time      struct {
		Created   num `json:"created"`
		Completed num `json:"completed"`
	} `json:"time"`
}

// encode writes a value that can be encoded.
func encode(v any) []byte {
	b, err := json.Marshal(v, json.Deterministic(true), lenient)
	if err != nil {
		panic(err) // only types of this package are written
	}
	return b
}
