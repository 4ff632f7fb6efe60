package golden_test

import (
	"reflect"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/backend/replay"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/backend/golden"
)

// TestTheOutlineHoldsWhatIsNoText checks that each field of a chat, a message
// and a block changes the outline, except those that the events of a golden have.
func TestTheOutlineHoldsWhatIsNoText(t *testing.T) {
	g := NewWithT(t)
	chat := func(c replay.Chat, m replay.Message, b replay.Block) string {
		m.Role = replay.Role("r" + string(m.Role))
		m.Blocks = []replay.Block{b}
		c.Messages = []replay.Message{m}
		return golden.Outline(&c)
	}
	plain := chat(replay.Chat{}, replay.Message{}, replay.Block{})
	told := map[string]bool{"Messages": true, "Blocks": true, "Text": true, "Input": true, "Output": true, "Changes": true, "Props": true, "Value": true}
	each := func(v any, outline func() string) {
		s := reflect.ValueOf(v).Elem()
		for i := range s.NumField() {
			name := s.Type().Field(i).Name
			if told[name] {
				continue
			}
			fill(s.Field(i))
			g.Expect(outline()).NotTo(Equal(plain), "%s.%s", s.Type(), name)
			s.Field(i).SetZero()
		}
	}
	var c replay.Chat
	each(&c, func() string { return chat(c, replay.Message{}, replay.Block{}) })
	var m replay.Message
	each(&m, func() string { return chat(replay.Chat{}, m, replay.Block{}) })
	var b replay.Block
	each(&b, func() string { return chat(replay.Chat{}, replay.Message{}, b) })
	for _, part := range []any{&replay.Tool{}, &replay.Permission{}, &replay.Interrupt{}, &replay.Subagent{}} {
		b := replay.Block{}
		field := reflect.ValueOf(&b).Elem().FieldByName(reflect.TypeOf(part).Elem().Name())
		field.Set(reflect.ValueOf(part))
		plain = chat(replay.Chat{}, replay.Message{}, b)
		each(part, func() string { return chat(replay.Chat{}, replay.Message{}, b) })
	}
}

// fill sets a field to a non-zero value.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(7)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		if v.Type() == reflect.TypeFor[*replay.Progress]() {
			fill(v.Elem().Field(0)) // one without fields is left out
		}
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[event.Raw]() {
			v.SetBytes([]byte("{}"))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
	case reflect.Struct:
		v.Set(reflect.ValueOf(time.Date(2000, 1, 1, 0, 0, 7, 0, time.UTC)))
	}
}
