package jsonl_test

import (
	"bytes"
	"cmp"
	"fmt"
	"iter"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/op"
	"github.com/turnspec/turnspec/conformance/plug/jsonl"
)

// TestOperations compares what the rows of package op and the options of the command open
// determine with the files that hold it: the commands and the abilities in the schema, the
// tables of PROTOCOL.md, and the methods of the plugs.
func TestOperations(t *testing.T) {
	for _, f := range []struct {
		file string
		with func(t *testing.T, text string) string
	}{
		{"schema.json", schemaWithOperations},
		{"PROTOCOL.md", pageWithOperations},
		{"../typescript/index.d.ts", typesWithOperations},
		{"../typescript/index.js", scriptWithOperations},
		{"../python/src/turnspec_plug/__init__.py", scriptWithOperations},
		{"../python/src/turnspec_plug/__init__.pyi", stubWithOperations},
	} {
		t.Run(f.file, func(t *testing.T) {
			g := gomega.NewWithT(t)
			have, err := os.ReadFile(f.file)
			g.Expect(err).NotTo(gomega.HaveOccurred())
			want := f.with(t, string(have))
			if *update {
				g.Expect(os.WriteFile(f.file, []byte(want), 0o644)).To(gomega.Succeed())
				return
			}
			g.Expect(string(have)).To(gomega.Equal(want), "make generate writes it")
		})
	}
}

func pageWithOperations(t *testing.T, text string) string {
	t.Helper()
	text = between(t, text, "| stop | | stop | stop the running turn; if there is none, do nothing |\n", "| close |", operationTable())
	return between(t, text, "| option | needs `can` | means |\n|---|---|---|\n", "\n`mode`", optionTable())
}

func typesWithOperations(t *testing.T, text string) string {
	t.Helper()
	text = between(t, text, "  // The optional operations:\n", "}\n", operationMethods())
	return between(t, text, "  can?: (", ")[];", strings.Join(quotedAll(jsonl.Options()), " | "))
}

func scriptWithOperations(t *testing.T, text string) string {
	t.Helper()
	begin := "const commands = \""
	if !strings.Contains(text, begin) {
		begin = "_COMMANDS = \""
	}
	return between(t, text, begin, "\"", strings.Join(commandNames(), " "))
}

func stubWithOperations(t *testing.T, text string) string {
	t.Helper()
	text = between(t, text, "presence declares an ability:\n    ", ".\n", strings.Join(commandNames(), ", "))
	return between(t, text, "_Ability = Literal[", "]", strings.Join(quotedAll(jsonl.Options()), ", "))
}

// between replaces what is between two marks: the first begin, and the end that follows it.
func between(t *testing.T, text, begin, end, with string) string {
	t.Helper()
	head, rest, ok := strings.Cut(text, begin)
	if !ok {
		t.Fatalf("the file has no %q", begin)
	}
	_, tail, ok := strings.Cut(rest, end)
	if !ok {
		t.Fatalf("the file has no %q after %q", end, begin)
	}
	return head + begin + with + end + tail
}

// commandNames are the abilities that are commands.
func commandNames() []string {
	out := []string{"answer", "stop"}
	for _, o := range op.All() {
		out = append(out, o.Name)
	}
	return out
}

func quotedAll(names []string) []string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = fmt.Sprintf("%q", name)
	}
	return out
}

func operationTable() string {
	var b strings.Builder
	for _, o := range op.All() {
		with := strings.Join(o.Members, ", ")
		for _, m := range o.Members {
			if isFlag(m) {
				with = strings.ReplaceAll(with, m, m+"?")
			}
		}
		if o.Args == op.Word {
			with += ": " + strings.Join(o.Words, ", ")
		}
		does := o.Does
		if o.Values {
			does += "; *some values*"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", o.Name, with, o.Name, does)
	}
	return b.String()
}

// optionTable has a row for each option of the command open.
func optionTable() string {
	var b strings.Builder
	code := regexp.MustCompile(`\b\w+_\w+\b`)
	for _, o := range op.Options(jsonl.OpenCommand) {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", o.Name, cmp.Or(o.With, o.Can), code.ReplaceAllString(o.Doc, "`$0`"))
	}
	return b.String()
}

// alwaysSent are the options that each command open has.
var alwaysSent = []string{"session_id", "dir", "command", "mode"}

// openSchema returns the schema of the command open.
func openSchema(t *testing.T) string {
	t.Helper()
	properties := `"id":{"type":"integer","minimum":1},"do":{"const":"open"}`
	for _, o := range op.Options(jsonl.OpenCommand) {
		f := slices.Collect(jsonFields(jsonl.OpenCommand, o.Name))[0]
		properties += fmt.Sprintf(",%q:{%s}", o.Name, strings.Join(schemaOfField(t, f), ","))
	}
	return fmt.Sprintf(`{"title":"open","type":"object","properties":{%s},"required":[%s],"additionalProperties":false}`,
		properties, strings.Join(quotedAll(append([]string{"id", "do"}, alwaysSent...)), ","))
}

// jsonFields returns the fields of a struct that have a JSON name: those with this name, or all if
// it is "".
func jsonFields(of reflect.Type, name string) iter.Seq[reflect.StructField] {
	return func(yield func(reflect.StructField) bool) {
		for _, f := range reflect.VisibleFields(of) {
			has, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if has != "" && (name == "" || name == has) && !yield(f) {
				return
			}
		}
	}
}

// schemaOfField returns the members of the schema of a field: its description and its form.
func schemaOfField(t *testing.T, f reflect.StructField) (out []string) {
	t.Helper()
	if doc := f.Tag.Get("doc"); doc != "" {
		out = append(out, fmt.Sprintf(`"description":%q`, doc))
	}
	of := strings.Fields(f.Tag.Get("of"))
	switch {
	case f.Type == reflect.TypeFor[jsontext.Value]():
		if len(of) > 0 {
			out = append(out, fmt.Sprintf(`"type":%q`, of[0]))
		}
		return out
	case f.Type.Kind() == reflect.String && len(of) > 0:
		return append(out, `"enum":[`+strings.Join(quotedAll(of), ",")+"]")
	}
	out = append(out, formOf(t, f.Type)...)
	if least, ok := f.Tag.Lookup("min"); ok {
		out = append(out, `"minimum":`+least)
	}
	return out
}

// formOf returns the members of the schema of a type.
func formOf(t *testing.T, typ reflect.Type) []string {
	t.Helper()
	switch typ.Kind() {
	case reflect.Pointer:
		return formOf(t, typ.Elem())
	case reflect.String:
		return []string{`"type":"string"`}
	case reflect.Bool:
		return []string{`"type":"boolean"`}
	case reflect.Int, reflect.Int64:
		return []string{`"type":"integer"`}
	case reflect.Float64:
		return []string{`"type":"number"`}
	case reflect.Slice:
		return []string{`"type":"array"`, `"items":{` + strings.Join(formOf(t, typ.Elem()), ",") + "}"}
	case reflect.Map:
		return []string{`"type":"object"`, `"additionalProperties":{` + strings.Join(formOf(t, typ.Elem()), ",") + "}"}
	case reflect.Struct:
		var properties, required []string
		for f := range jsonFields(typ, "") {
			name, flags, _ := strings.Cut(f.Tag.Get("json"), ",")
			properties = append(properties, fmt.Sprintf("%q:{%s}", name, strings.Join(schemaOfField(t, f), ",")))
			if flags == "" {
				required = append(required, name)
			}
		}
		return []string{
			`"type":"object"`, `"properties":{` + strings.Join(properties, ",") + "}",
			`"required":[` + strings.Join(quotedAll(required), ",") + "]", `"additionalProperties":false`,
		}
	}
	t.Fatalf("the type %v has no schema", typ)
	return nil
}

// operationMethods are the optional methods of an adapter in TypeScript.
func operationMethods() string {
	var b strings.Builder
	for _, o := range op.All() {
		method := fmt.Sprintf("Method<%q>", o.Name)
		if o == op.List {
			fmt.Fprintln(&b, "  /** Returns the entries of a list. For one that the runtime does not have it throws a PlugError with the code `unsupported`. */")
			method = "(command: Command[\"list\"]) => Listed[] | Promise<Listed[]>"
		}
		fmt.Fprintf(&b, "  %s?: %s;\n", o.Name, method)
	}
	return b.String()
}

// callMember returns the field of op.Call with a JSON name.
func callMember(name string) reflect.StructField {
	call := reflect.TypeFor[op.Call]()
	for field := range call.Fields() {
		if member, _, _ := strings.Cut(field.Tag.Get("json"), ","); member == name {
			return field
		}
	}
	panic("op.Call has no member " + name)
}

// isFlag reports whether a member of op.Call is a boolean, which a command may leave out.
func isFlag(member string) bool { return callMember(member).Type.Kind() == reflect.Bool }

// commandSchema returns the schema of the command of an operation.
func commandSchema(o *op.Op) string {
	required := []string{"id", "do"}
	properties := fmt.Sprintf(`"id":{"type":"integer","minimum":1},"do":{"const":%q}`, o.Name)
	for _, m := range o.Members {
		typ := `"type":"string"`
		switch {
		case isFlag(m):
			typ = `"type":"boolean"`
		case o.Args == op.Word:
			typ = `"enum":[` + strings.Join(quotedAll(o.Words), ",") + "]"
		}
		properties += fmt.Sprintf(`,%q:{"description":%q,%s}`, m, callMember(m).Tag.Get("doc"), typ)
		if !isFlag(m) {
			required = append(required, m)
		}
	}
	return fmt.Sprintf(`{"title":%q,"type":"object","properties":{%s},"required":[%s],"additionalProperties":false}`,
		o.Name, properties, strings.Join(quotedAll(required), ","))
}

// schemaWithOperations returns the schema with the commands of the operations behind stop, and
// all abilities.
func schemaWithOperations(t *testing.T, text string) string {
	t.Helper()
	var commands []jsontext.Value
	if err := json.Unmarshal(valueAt(t, text, "/$defs/command/oneOf"), &commands); err != nil {
		t.Fatal(err)
	}
	title := func(v jsontext.Value) string {
		var n node
		if err := json.Unmarshal(bytes.ReplaceAll(v, []byte(`"const": 1`), []byte(`"const": "1"`)), &n); err != nil {
			t.Fatal(err)
		}
		return n.Title
	}
	commands = slices.DeleteFunc(commands, func(v jsontext.Value) bool { return op.Named(title(v)) != nil })
	var all []string
	for _, v := range commands {
		if title(v) == "open" {
			v = jsontext.Value(openSchema(t))
		}
		all = append(all, string(v))
		if title(v) == "stop" {
			for _, o := range op.All() {
				all = append(all, commandSchema(o))
			}
		}
	}
	text = strings.Replace(text, string(valueAt(t, text, "/$defs/command/oneOf")), "["+strings.Join(all, ",")+"]", 1)
	abilities := valueAt(t, text, "/$defs/message/properties/hello/properties/can/items/enum")
	text = strings.Replace(text, string(abilities), "["+strings.Join(quotedAll(jsonl.Abilities()), ",")+"]", 1)
	out := jsontext.Value(text)
	if err := out.Indent(jsontext.WithIndent(" ")); err != nil {
		t.Fatal(err)
	}
	return string(out) + "\n"
}

// valueAt returns the value at a place of a JSON text, as it is written.
func valueAt(t *testing.T, text string, at jsontext.Pointer) jsontext.Value {
	t.Helper()
	d := jsontext.NewDecoder(strings.NewReader(text))
	for {
		if _, err := d.ReadToken(); err != nil {
			t.Fatalf("%s: %v", at, err)
		}
		if d.StackPointer() == at && d.PeekKind() != '}' && d.PeekKind() != ']' {
			v, err := d.ReadValue()
			if err != nil {
				t.Fatal(err)
			}
			return v.Clone()
		}
	}
}
