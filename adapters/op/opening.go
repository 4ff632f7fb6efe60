package op

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Opening holds the options of a session that have a JSON form. Its members are those of the
// command open of programs over JSON lines. Package adapters and package conformance embed it
// in their options and add what has no such form.
//
// The tags of a field say what is derived from it; see Option. A new option is a field with the
// tags json, can and doc. Each place that refuses, writes, reads or documents options
// then has it, and an adapter that does not name it in its Capabilities refuses it.
type Opening struct {
	SessionID string `doc:"A name for the session; events may leave it out." json:"session_id,omitempty"`

	Dir string `doc:"The working directory of the runtime." json:"dir,omitempty"`

	Command []string `doc:"The program to start in place of the runtime's usual one. Who finds the runtime by PATH or a variable need not look at it." json:"command,omitempty"`

	Args []string `doc:"Further arguments for the runtime, after the adapter's own." json:"args,omitempty"`

	// Mode is when the runtime asks for permission, one of the modes of package adapters.
	Mode string `doc:"What the runtime must ask for before it does it." json:"mode,omitempty"`

	Model string `doc:"The runtime's name of a model; absent: its default." json:"model,omitempty"`

	// Resume is the runtime's own id of a session. A fork names its session by it too, and
	// then needs no ability but fork.
	Resume string `can:"resume" doc:"The provider_session_id of the session to continue." head:"-" json:"resume,omitempty" unless:"fork"`

	Fork bool `can:"fork" doc:"With resume: a new session with that history." head:"-" json:"fork,omitzero"`

	At string `can:"fork_at" doc:"With fork: the provider_turn_id of the last turn that it takes over." head:"-" json:"at,omitempty" with:"fork"`

	Unarchive bool `can:"archive" doc:"With resume: the session is archived; unarchive it first." head:"-" json:"unarchive,omitzero"`

	Checkpoints bool `can:"rewind" doc:"Keep copies of the files that the agent changes, so that rewind can restore them." head:"-" json:"checkpoints,omitzero"`

	Instructions string `can:"instructions" doc:"A text for the model, with each of its replies, after the runtime's own instructions." json:"instructions,omitempty" unless:"replace_instructions"`

	ReplaceInstructions bool `can:"instructions" doc:"With instructions: they replace the runtime's own. A program whose runtime cannot do that refuses open with unsupported." head:"-" json:"replace_instructions,omitzero" key:"replacing instructions"`

	Effort string `can:"effort" doc:"How much the model reasons, by a level of the runtime's, such as high; absent: its default." json:"effort,omitempty"`

	MaxRequests int `can:"max_requests" doc:"How often a turn may ask the model. A turn that would ask once more ends in an error, limit." json:"max_requests,omitzero" min:"1"`

	MaxCost float64 `can:"max_cost" doc:"What the session may cost, in US dollars. After that each turn ends in an error, limit." json:"max_cost,omitzero"`

	ExtraDirs []string `can:"extra_dirs" doc:"Folders beside dir in which tools may work as in dir: absolute paths." json:"extra_dirs,omitempty" of:"PATH"`

	// SettingSources nil means those that the runtime reads by default, an empty list none.
	SettingSources []string `can:"setting_sources" doc:"The files of settings that the runtime reads: user, project, local, or some of them; absent: those that it reads by default, and an empty list: none." json:"setting_sources,omitzero" of:"user project local"`

	// StreamToolInput changes what an adapter emits and not what it writes to the runtime, so
	// that no ability of the runtime follows from it.
	StreamToolInput bool `can:"stream_tool_input" doc:"Emit the inputs of tools in pieces, tool_input, as the model writes them, before the tool_start." json:"stream_tool_input,omitzero" soft:"tool_input"`
}

// Option is an option of a session, as the tags of its field describe it. An option is a field
// with the tag can or doc.
type Option struct {
	// Name is the name in the tag json, or Can if the field has no JSON form.
	Name string
	// Can is the ability that the option needs, in Capabilities.Can and in what a program
	// declares: the name of an operation, or of the option itself. It is "" if
	// every adapter has the option. Several options may need the same ability.
	Can string
	// With is the ability of the option of which this one is a part. It suffices for
	// programs, which do not declare Can.
	With string
	// Unless is the name of an option. If that one is set too, only that one counts.
	Unless string
	// Soft is the type of the events that the option asks for, or "". The suite drops such an
	// option, and expects no such events, if the subject lacks the ability.
	Soft string
	// Head means that the head of a scenario may set the option. The others are set by
	// a step or by another key.
	Head bool
	// Key is the name in words, as the head of a scenario and error messages have it.
	Key string
	// Min is the least value of a number, if not 0. A number of a head is above 0 in any
	// case. Of are the words of a list, or PATH for paths below the working directory.
	Min int
	Of  []string
	// Doc describes the option for the schema and the page of the protocol of JSON lines.
	Doc string
	// Type is the type of the field.
	Type reflect.Type

	index       []int
	emptyCounts bool // an empty list is a value
}

// Need returns the name of the option among the needs of a scenario.
func (o *Option) Need() string { return strings.ReplaceAll(o.Key, " ", "-") }

// optionsOf are the options of the types that were asked for.
var optionsOf sync.Map // of []Option, by reflect.Type

// Options returns the options of a struct, such as Opening or one that embeds it, in the
// order of the fields.
func Options(of reflect.Type) []Option {
	if known, ok := optionsOf.Load(of); ok {
		return known.([]Option)
	}
	var out []Option
	for _, f := range reflect.VisibleFields(of) {
		_, documented := f.Tag.Lookup("doc")
		can := f.Tag.Get("can")
		if f.Anonymous || !documented && can == "" {
			continue
		}
		name, flags, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" {
			name = can
		}
		key := cmp.Or(f.Tag.Get("key"), strings.ReplaceAll(name, "_", " "))
		least, _ := strconv.Atoi(f.Tag.Get("min"))
		out = append(out, Option{
			Name: name, Key: key, Can: can, With: f.Tag.Get("with"), Unless: f.Tag.Get("unless"), Soft: f.Tag.Get("soft"), Head: can != "" && f.Tag.Get("head") != "-",
			Min: least, Of: strings.Fields(f.Tag.Get("of")), Doc: f.Tag.Get("doc"),
			Type: f.Type, index: f.Index, emptyCounts: strings.Contains(flags, "omitzero"),
		})
	}
	optionsOf.Store(of, out)
	return out
}

// Wants returns the set options that need an ability, in the order of the fields. options is a
// struct, such as Opening or one that embeds it.
func Wants(options any) []Option {
	v := reflect.ValueOf(options)
	var set []Option
	for _, o := range Options(v.Type()) {
		if o.isSet(v) {
			set = append(set, o)
		}
	}
	isSet := func(name string) bool {
		return name != "" && slices.ContainsFunc(set, func(o Option) bool { return o.Name == name })
	}
	var out []Option
	for _, o := range set {
		if o.Can != "" && !isSet(o.Unless) {
			out = append(out, o)
		}
	}
	return out
}

// isSet reports whether the option has a value. An empty list is one if the JSON form has it.
func (o *Option) isSet(options reflect.Value) bool {
	f := options.FieldByIndex(o.index)
	if k := f.Kind(); !o.emptyCounts && (k == reflect.Slice || k == reflect.Map) {
		return f.Len() > 0
	}
	return !f.IsZero()
}

// DropSoft clears the set options that are soft and whose ability is not in the set. options
// is a pointer to a struct.
func DropSoft(options any, can Set) {
	v := reflect.ValueOf(options).Elem()
	for _, o := range Wants(v.Interface()) {
		if o.Soft != "" && !can.Names(o.Can) {
			v.FieldByIndex(o.index).SetZero()
		}
	}
}

// Parse sets an option of a scenario's head from its text. options is a pointer to a struct.
// Parse returns false if no option has this key.
func Parse(options any, key, text string) (bool, error) {
	v := reflect.ValueOf(options).Elem()
	for _, o := range Options(v.Type()) {
		if o.Head && o.Key == key {
			if err := o.parse(v.FieldByIndex(o.index), text); err != nil {
				return true, fmt.Errorf("%s: %w", key, err)
			}
			return true, nil
		}
	}
	return false, nil
}

// pathWord is the word in Option.Of that allows any path.
const pathWord = "PATH"

// Form returns the form of the option's value in the head of a scenario.
func (o *Option) Form() string {
	switch o.Type.Kind() {
	case reflect.Bool:
		return "yes"
	case reflect.Int, reflect.Float64:
		return "NUMBER"
	case reflect.Slice:
		return cmp.Or(strings.Join(o.Of, "|"), "TEXT") + ", …"
	}
	return "TEXT"
}

func (o *Option) parse(f reflect.Value, text string) error {
	switch f.Kind() {
	case reflect.String:
		f.SetString(text)
	case reflect.Bool:
		if text != "yes" {
			return errors.New("want yes")
		}
		f.SetBool(true)
	case reflect.Int:
		least := max(o.Min, 1)
		n, err := strconv.Atoi(text)
		if err != nil || n < least {
			return fmt.Errorf("want a number above %d", least-1)
		}
		f.SetInt(int64(n))
	case reflect.Float64:
		x, err := strconv.ParseFloat(text, 64)
		if err != nil || !(x > 0) {
			return errors.New("want a number above 0, such as 0.5")
		}
		f.SetFloat(x)
	case reflect.Slice:
		list := strings.Split(text, ",")
		for i := range list {
			list[i] = strings.TrimSpace(list[i])
			switch {
			case slices.Equal(o.Of, []string{pathWord}):
				if !filepath.IsLocal(list[i]) {
					return fmt.Errorf("%q leaves the workspace", list[i])
				}
			case len(o.Of) > 0 && !slices.Contains(o.Of, list[i]):
				return fmt.Errorf("there is no %q, only %s", list[i], strings.Join(o.Of, ", "))
			}
		}
		f.Set(reflect.ValueOf(list))
	default:
		return fmt.Errorf("an option of the type %v has no form in a head", f.Type())
	}
	return nil
}
