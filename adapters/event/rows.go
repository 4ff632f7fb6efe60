package event

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// rows is the closed set of types, one row each: the struct of its data, and what its name and
// its members do not say. go generate writes the constants and the methods of the structs into
// types.go, and the JSON Schema. What has no case for a type reads its row: reducer, page,
// dialects, mappings and reports carry a new type without an edit.
var rows = []row{
	rowOf[SessionReady](Row{}),
	rowOf[SessionEnd](Row{}),
	rowOf[TurnStart](Row{}),
	rowOf[UserMessage](Row{Key: "message_id"}),
	rowOf[Queue](Row{Transient: true}),
	rowOf[Delta](Row{Key: "block_id"}),
	rowOf[Thinking](Row{Key: "block_id"}),
	rowOf[BlockEnd](Row{Key: "block_id"}),
	rowOf[ToolStart](Row{Key: toolKey}),
	rowOf[ToolInput](Row{Key: toolKey}),
	rowOf[ToolOutput](Row{Key: toolKey}),
	rowOf[ToolProgress](Row{Key: toolKey, Transient: true}),
	rowOf[ToolResult](Row{Key: toolKey}),
	rowOf[Task](Row{Key: "task_id"}),
	rowOf[PermissionRequest](Row{Key: "request_id"}),
	rowOf[PermissionResolved](Row{Key: "request_id"}),
	rowOf[Interrupt](Row{Key: "interrupt_id"}),
	rowOf[InterruptResolved](Row{Key: "interrupt_id"}),
	rowOf[Plan](Row{}),
	rowOf[Usage](Row{}),
	rowOf[Compaction](Row{}),
	rowOf[ComponentUpdate](Row{Key: "component_id"}),
	rowOf[ComponentRemove](Row{Key: "component_id"}),
	rowOf[ModelChanged](Row{}),
	rowOf[ModeChanged](Row{}),
	rowOf[Checkpoint](Row{Key: "checkpoint_id"}),
	rowOf[Notice](Row{}),
	rowOf[Result](Row{}),
	rowOf[Error](Row{}),
	rowOf[Done](Row{}),
}

// toolKey is the key of the events of a tool.
const toolKey = "tool_use_id"

// Row is what is known of a type of event besides its name and its members.
type Row struct {
	// Key is the member that names what the event is about, such as a block; "" if it is about
	// its turn or its session. EventKey returns its value. Key tool_use_id makes the event one of
	// a tool: it is emitted only while the tool is open.
	Key string
	// Transient events state what is so at the moment. A later one with the same key replaces an
	// earlier one, and none is of interest after the end of its tool or its turn.
	Transient bool
}

// row is a row with what follows from the struct.
type row struct {
	Row
	name   Type
	goType reflect.Type
	form   form
}

// rowOf returns the row of a struct. The type is named as the struct is: ToolStart is tool_start.
func rowOf[T any](r Row) row {
	t := reflect.TypeFor[T]()
	return row{Row: r, name: Type(snakeCase(t.Name())), goType: t, form: formOf[T]()}
}

// snakeCase returns ToolStart as tool_start.
func snakeCase(name string) string {
	var b strings.Builder
	for i, c := range name {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
			if i > 0 {
				b.WriteByte('_')
			}
		}
		b.WriteRune(c)
	}
	return b.String()
}

// rowByType holds the rows by the names of their types.
var rowByType = func() map[Type]row {
	out := map[Type]row{}
	for _, r := range rows {
		out[r.name] = r
	}
	return out
}()

// RowOf returns the row of a type; the zero Row if there is no such type.
func RowOf(t Type) Row { return rowByType[t].Row }

// ToolID returns the tool_use_id of an event of a tool, and false for other events, even if they
// name a tool, as a task does.
func ToolID(d Data) (id string, ok bool) {
	if RowOf(d.EventType()).Key != toolKey {
		return "", false
	}
	return d.EventKey(), true
}

// Blank reports whether data states nothing: all members but the key are zero.
func Blank(d Data) bool {
	v := reflect.ValueOf(d)
	key := RowOf(d.EventType()).Key
	for i := range v.NumField() {
		if !v.Field(i).IsZero() && memberName(v.Type().Field(i)) != key {
			return false
		}
	}
	return true
}

// Types returns the closed set of types, sorted.
func Types() []Type {
	types := make([]Type, 0, len(rows))
	for _, r := range rows {
		types = append(types, r.name)
	}
	slices.Sort(types)
	return types
}

// Register adds a type to the set, and returns its name. It is for tests of how code handles a type
// that it has no case for. The type is named as the struct is, and it must be registered before
// events are handled. A type that is registered already stays as it is.
func Register[T Data](r Row) Type {
	added := rowOf[T](r)
	var zero T
	if got := zero.EventType(); got != added.name {
		panic(fmt.Sprintf("event: EventType of %v is %s, want %s", added.goType, got, added.name))
	}
	if _, known := rowByType[added.name]; !known {
		rows = append(rows, added)
		rowByType[added.name] = added
	}
	return added.name
}
