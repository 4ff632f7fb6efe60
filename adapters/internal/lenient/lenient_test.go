package lenient_test

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/internal/lenient"
)

// TestMembersOfAnyKind checks what each type reads from a value of each kind, and that the
// member after it is read too.
func TestMembersOfAnyKind(t *testing.T) {
	type object struct {
		A lenient.Str `json:"a"`
	}
	type line struct {
		Str    lenient.Str               `json:"str"`
		Num    lenient.Num               `json:"num"`
		Object lenient.Opt[object]       `json:"object"`
		Count  lenient.Opt[lenient.Num]  `json:"count"`
		List   lenient.List[lenient.Str] `json:"list"`
		After  lenient.Str               `json:"after"`
	}
	seven, x := lenient.Num(7), object{"x"}
	for value, want := range map[string]line{
		`null`:      {},
		`true`:      {},
		`"x"`:       {Str: "x"},
		`"\u00e9"`:  {Str: "é"},
		`"\ud800x"`: {Str: "\uFFFDx"},
		`7`:         {Str: "7", Num: 7, Count: lenient.Opt[lenient.Num]{V: &seven}},
		`{"a":"x"}`: {Object: lenient.Opt[object]{V: &x}},
		`["x",7]`:   {List: lenient.List[lenient.Str]{"x", "7"}},
		`[]`:        {List: lenient.List[lenient.Str]{}},
	} {
		g := NewWithT(t)
		want.After = "read"
		b := []byte(`{"str":` + value + `,"num":` + value + `,"object":` + value + `,"count":` + value + `,"list":` + value + `,"after":"read"}`)
		g.Expect(lenient.Decode[line](b)).To(Equal(want), value)
	}
}

// TestDecodeKeepsWhatItCanRead checks values of which a part has another form.
func TestDecodeKeepsWhatItCanRead(t *testing.T) {
	g := NewWithT(t)
	type content struct {
		Text lenient.Str `json:"text"`
	}
	g.Expect(lenient.Decode[[]content](jsontext.Value(`[{"text":"a"},7,{"text":"b"}]`))).To(HaveExactElements(content{"a"}, content{}))
	g.Expect(lenient.Decode[[]content](jsontext.Value(`{"text":"a"}`))).To(BeEmpty())
	g.Expect(lenient.Decode[content](nil)).To(BeZero())
	g.Expect(lenient.Decode[content](jsontext.Value(`{"text":"a","text":"b"}`))).To(Equal(content{"b"}))
}

func TestEncode(t *testing.T) {
	g := NewWithT(t)
	g.Expect(string(lenient.Encode(map[string]string{"b": "\xff", "a": "x"}))).To(Equal("{\"a\":\"x\",\"b\":\"\uFFFD\"}"))
	g.Expect(func() { lenient.Encode(func() {}) }).To(PanicWith(ContainSubstring("does not encode")))
}
