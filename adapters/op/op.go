// Package op lists the optional operations of a session, one row each, and the options that it
// is opened with, one field of Opening each. The dispatch of a scenario's steps, the keys of its
// head, the commands of programs over JSON lines, their schema and types, the route of the
// server, what an adapter declares and the texts of refusals are derived from them.
//
// The interface of an operation, such as adapters.Withdrawer, and its call are in package
// adapters. An adapter implements the interface; it needs nothing of this package but
// the row, for its Capabilities.
//
// # Add an operation
//
// Add a row to this file, and the interface with its call to package adapters. Then run
// make generate. What is left is a scenario, a check with its broken adapter, and for each
// runtime the adapter's method, the request of its recorder, or a line in its lacks.go.
//
// # Add an option
//
// Add a field to Opening and run make generate. All adapters then refuse the option. What is left
// is a scenario, a check with its broken adapter, and for each runtime that has it the
// adapter, which names it in its Capabilities, and the recorder; for the others a line in lacks.go.
package op

import (
	"context"
	"reflect"
	"slices"
	"strings"
)

// Op is the row of an operation.
type Op struct {
	// Name is the name in Call.Do, in what a subject declares, and, with - for _, in the
	// needs of a scenario.
	Name string
	// Step is the verb of the step that runs the operation. What is the word after the
	// verb if several operations have the verb: set model, set mode.
	Step, What string
	// Args is what follows in the step, and Words are the words that Args allows.
	Args  Args
	Words []string
	// Members are the members of Call that the operation uses, by their JSON names.
	Members []string
	// Values means that a program may support the operation for some values only. It may then
	// refuse one as unsupported although it declares the operation.
	Values bool
	// Does says what the operation does, after "a request that": withdraws a queued message.
	Does string
	// Of returns the call of a step, given its What, ID and Text.
	Of func(what, id, text string) Call
}

// Args is the form of what follows the verb of a step.
type Args string

// The forms. A form with MESSAGE may be followed by one of Op.Words.
const (
	NoArgs      Args = ""
	MessageText Args = "MESSAGE: TEXT"
	Message     Args = "MESSAGE"
	Tool        Args = "TOOL" // a call that runs in the background
	Text        Args = "TEXT"
	Value       Args = "VALUE" // or RUNTIME:VALUE …
	Word        Args = "WORD"  // one of Op.Words
)

// Lists are the lists that a client may request: of models, commands, MCP servers and
// stored sessions, and the account.
var Lists = []string{"models", "commands", "mcp", "account", "sessions"}

// The operations.
var (
	Steer = &Op{
		Name: "steer", Step: "steer", Args: MessageText, Members: []string{"message_id", "text"}, Does: "adds a message to the running turn",
		Of: func(_, id, text string) Call { return Call{MessageID: id, Text: text} },
	}
	SetModel = &Op{
		Name: "set_model", Step: "set", What: "model", Args: Value, Members: []string{"model"}, Does: "changes the model",
		Of: func(_, _, text string) Call { return Call{Model: text} },
	}
	SetMode = &Op{
		Name: "set_mode", Step: "set", What: "mode", Args: Value, Members: []string{"mode"}, Values: true, Does: "changes the permission mode",
		Of: func(_, _, text string) Call { return Call{Mode: text} },
	}
	StopAll = &Op{
		Name: "stop_all", Step: "stop", What: "all", Does: "stops the turn and withdraws all queued messages",
		Of: withoutMembers,
	}
	StopTask = &Op{
		Name: "stop_task", Step: "stop task", Args: Tool, Members: []string{"task_id"}, Does: "stops a task in the background",
		Of: func(_, id, _ string) Call { return Call{TaskID: id} },
	}
	Withdraw = &Op{
		Name: "withdraw", Step: "withdraw", Args: Message, Members: []string{"message_id"}, Does: "withdraws a queued message",
		Of: aboutMessage,
	}
	Revert = &Op{
		Name: "revert", Step: "revert", Args: Message, Members: []string{"message_id"}, Does: "removes a message and all that follows it from the history",
		Of: aboutMessage,
	}
	Rewind = &Op{
		Name: "rewind", Step: "rewind", Args: Message, Words: []string{"dry"}, Members: []string{"message_id", "dry"}, Values: true,
		Does: "restores the files as they were at a message",
		Of:   func(what, id, _ string) Call { return Call{MessageID: id, Dry: what == "dry"} },
	}
	Compact = &Op{
		Name: "compact", Step: "compact", Does: "summarizes the history",
		Of: withoutMembers,
	}
	Archive = &Op{
		Name: "archive", Step: "archive", Does: "archives the session, which ends",
		Of: withoutMembers,
	}
	Rename = &Op{
		Name: "rename", Step: "name", Args: Text, Members: []string{"text"}, Does: "names the session",
		Of: func(_, _, text string) Call { return Call{Text: text} },
	}
	List = &Op{
		Name: "list", Step: "list", Args: Word, Words: Lists, Members: []string{"list"}, Values: true, Does: "returns the entries of a list",
		Of: func(what, _, _ string) Call { return Call{List: what} },
	}
)

var all = []*Op{Steer, SetModel, SetMode, StopAll, StopTask, Withdraw, Revert, Rewind, Compact, Archive, Rename, List}

func withoutMembers(_, _, _ string) Call { return Call{} }
func aboutMessage(_, id, _ string) Call  { return Call{MessageID: id} }

// Call is one call of an operation. Its JSON form is the command to a program over JSON lines
// and the body of the server's route do.
type Call struct {
	Do        string `json:"do"` // the name of the operation
	MessageID string `doc:"The client's id of the message."              json:"message_id,omitzero"`
	TaskID    string `doc:"The task to stop."                            json:"task_id,omitzero"`
	Text      string `doc:"The text of the message; of rename the name." json:"text,omitzero"`
	Model     string `doc:"The runtime's name of a model."               json:"model,omitzero"`
	Mode      string `doc:"What the runtime must ask for."               json:"mode,omitzero"`
	List      string `doc:"The name of the list."                        json:"list,omitzero"`
	Dry       bool   `doc:"Only return what would change."               json:"dry,omitzero"`
}

// Doer is a session that runs operations by their names, such as one that passes them to
// a program. It returns an error that wraps adapters.ErrUnsupported if it does not support the
// operation.
type Doer interface {
	Do(ctx context.Context, c Call) (any, error)
}

// All returns the rows.
func All() []*Op { return slices.Clone(all) }

// Named returns the row of that name, or nil.
func Named(name string) *Op {
	return find(func(o *Op) bool { return o.Name == name })
}

// OfStep returns the row of a step with this verb and this word after it, or nil.
func OfStep(verb, what string) *Op {
	return find(func(o *Op) bool { return o.Step == verb && (o.What == "" || o.What == what) })
}

func find(is func(*Op) bool) *Op {
	if i := slices.IndexFunc(all, is); i >= 0 {
		return all[i]
	}
	return nil
}

// Add adds an operation that this module does not have. It must be called before any
// scenario is parsed, from an init function or TestMain; see adapters.AddOperation.
func Add(o *Op) { all = append(all, o) }

// Verb returns the words with which a step of the operation begins: stop all.
func (o *Op) Verb() string { return strings.TrimSpace(o.Step + " " + o.What) }

// Usage returns the form of a step of the operation.
func (o *Op) Usage() string {
	u := o.Verb()
	words := strings.Join(o.Words, "|")
	switch {
	case o.Args == Word:
		u += " " + words
	case o.Args != NoArgs:
		u += " " + string(o.Args)
		if words != "" {
			u += " [" + words + "]"
		}
	}
	return u
}

// Need returns the name of the operation among the needs of a scenario, for a step
// with this word after its verb: stop-all, list-models.
func (o *Op) Need(what string) string {
	need := strings.ReplaceAll(o.Name, "_", "-")
	if o.Args == Word {
		need += "-" + what
	}
	return need
}

// CallOf returns the call of a step, given its What, ID and Text.
func (o *Op) CallOf(what, id, text string) Call {
	c := o.Of(what, id, text)
	c.Do = o.Name
	return c
}

// Has reports whether the operation uses a member of Call, given by its JSON name.
func (o *Op) Has(member string) bool { return slices.Contains(o.Members, member) }

// Missing returns the JSON name of a member that the operation needs and that the call lacks, or
// "". A call may lack flags, such as dry.
func (o *Op) Missing(c Call) string {
	v := reflect.ValueOf(c)
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		if o.Has(name) && v.Field(i).IsZero() && v.Field(i).Kind() != reflect.Bool {
			return name
		}
	}
	return ""
}

// Set holds the names of abilities: of operations, and of options, as Option.Can has them.
type Set []string

// SetOf returns the set of the operations.
func SetOf(ops ...*Op) Set {
	out := make(Set, len(ops))
	for i, o := range ops {
		out[i] = o.Name
	}
	return out
}

// And returns the set with the abilities of options added.
func (s Set) And(abilities ...string) Set { return append(slices.Clip(s), abilities...) }

// Has reports whether the operation is in the set.
func (s Set) Has(o *Op) bool { return s.Names(o.Name) }

// Names reports whether the ability is in the set.
func (s Set) Names(ability string) bool { return slices.Contains(s, ability) }
