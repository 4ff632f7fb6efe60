package opencode

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/internal/lenient"
	"github.com/turnspec/turnspec/adapters/internal/opencodecli"
)

type (
	failure = opencodecli.Failure
	part    = opencodecli.Part
	input   = opencodecli.Input
)

// line is any line of the server: a reply, or an event of the stream.
type line struct {
	ID     lenient.Num    `json:"id"`
	Ready  jsontext.Value `json:"ready"`
	Status lenient.Num    `json:"status"`
	Stream jsontext.Value `json:"stream"`
	End    jsontext.Value `json:"end"`
	Body   jsontext.Value `json:"body"`
	Text   jsontext.Value `json:"text"`
	Error  lenient.Str    `json:"error"`
	Data   jsontext.Value `json:"data"`
}

// serverEvent is an event of the stream.
type serverEvent struct {
	Type       lenient.Str    `json:"type"`
	Properties jsontext.Value `json:"properties"`
}

// eventOf reads an event: alone, or as the stream of all directories wraps it.
func eventOf(v jsontext.Value) serverEvent {
	e := lenient.Decode[struct {
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
	ID        lenient.Str    `json:"id"`
	Session   lenient.Str    `json:"sessionID"`
	RequestID lenient.Str    `json:"requestID"`
	MessageID lenient.Str    `json:"messageID"`
	PartID    lenient.Str    `json:"partID"`
	Field     lenient.Str    `json:"field"`
	Delta     lenient.Str    `json:"delta"`
	Status    jsontext.Value `json:"status"`
	Error     jsontext.Value `json:"error"`
	Info      jsontext.Value `json:"info"`
	Part      jsontext.Value `json:"part"`
	Todos     jsontext.Value `json:"todos"`
	Reply     lenient.Str    `json:"reply"`
	Response  lenient.Str    `json:"response"` // Reply, of versions before 1.1
	Answers   jsontext.Value `json:"answers"`

	// Of permissions and questions.
	Permission lenient.Str    `json:"permission"`
	Kind       lenient.Str    `json:"type"` // Permission, of versions before 1.1
	Call       lenient.Str    `json:"callID"`
	Closed     lenient.Str    `json:"permissionID"` // RequestID, of versions before 1.1
	Metadata   jsontext.Value `json:"metadata"`
	Patterns   []lenient.Str  `json:"patterns"` // what a permission is for
	Questions  jsontext.Value `json:"questions"`
	Tool       struct {
		Call lenient.Str `json:"callID"`
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
	if s := lenient.Decode[part](p.Part).Session; s != "" {
		return string(s)
	}
	return string(lenient.Decode[info](p.Info).Session)
}

// status is the state of a session.
type status struct {
	Type    lenient.Str `json:"type"`
	Attempt lenient.Num `json:"attempt"`
	Message lenient.Str `json:"message"`
}

// info is a session or a message.
type info struct {
	ID        lenient.Str    `json:"id"`
	Session   lenient.Str    `json:"sessionID"`
	ParentID  lenient.Str    `json:"parentID"`
	Role      lenient.Str    `json:"role"`
	Model     lenient.Str    `json:"modelID"`
	Provider  lenient.Str    `json:"providerID"`
	Finish    lenient.Str    `json:"finish"`
	Error     jsontext.Value `json:"error"`
	Version   lenient.Str    `json:"version"`
	Directory lenient.Str    `json:"directory"`
	Title     lenient.Str    `json:"title"`
	Cost      lenient.Num    `json:"cost"`
	Summary   jsontext.Value `json:"summary"`
	Answer    jsontext.Value `json:"structured"` // in the form that the client has asked for
	Time      struct {
		Created   lenient.Num `json:"created"`
		Completed lenient.Num `json:"completed"`
	} `json:"time"`
}
