package broken

import (
	"reflect"
	"slices"
	"strings"

	"github.com/turnspec/turnspec/adapters/event"
)

// Omit returns a mutation that leaves out members of events, such as task.text, or all events
// of a type.
func Omit(what ...string) Mutation {
	return Each(func(e event.Event, out func(event.Event)) {
		if slices.Contains(what, string(e.Type())) {
			return
		}
		d := reflect.New(reflect.TypeOf(e.Data)).Elem()
		d.Set(reflect.ValueOf(e.Data))
		for i := range d.NumField() {
			name, _, _ := strings.Cut(d.Type().Field(i).Tag.Get("json"), ",")
			if slices.Contains(what, string(e.Type())+"."+name) {
				d.Field(i).SetZero()
			}
		}
		if data, ok := reflect.TypeAssert[event.Data](d); ok {
			e.Data = data
		}
		out(e)
	})
}
