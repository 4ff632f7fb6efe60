package event

// Field is a field of the JSON form of events.
type Field struct {
	// Name is the type and the names of the members that lead to the field, joined by
	// dots, such as tool_result.changes.path. A field of the envelope has its own name
	// only, such as turn. Elements of a list have the list's name.
	Name     string
	Type     Type     // "" for a field of the envelope
	Required bool     // an event without it is invalid
	Values   []string // the closed list of its values; nil: any
	Flag     bool     // it is true or false
}

// Fields returns the fields of every type of event: those of the envelope, without
// type and data, then those of each type in the order of Types.
func Fields() []Field {
	var out []Field
	for _, f := range envelopeShape.fields {
		if f.name != "type" && f.name != "data" {
			out = append(out, Field{Name: f.name, Required: f.required})
		}
	}
	for _, t := range Types() {
		out = appendFields(out, string(t), t, rowByType[t].form.shape)
	}
	return out
}

// Members returns the names of the members of a type's data, in their order.
func Members(t Type) []string {
	r, ok := rowByType[t]
	if !ok {
		return nil
	}
	var out []string
	for _, f := range r.form.shape.fields {
		out = append(out, f.name)
	}
	return out
}

func appendFields(out []Field, path string, t Type, s *shape) []Field {
	for _, f := range s.fields {
		name, inner := path+"."+f.name, f.shape
		if inner.kind == kindArray {
			inner = inner.elem
		}
		out = append(out, Field{Name: name, Type: t, Required: f.required, Values: f.shape.enum, Flag: f.shape.kind == kindBool})
		out = appendFields(out, name, t, inner)
	}
	return out
}
