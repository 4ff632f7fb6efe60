package component

import (
	"errors"
	"fmt"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/event"
)

// MaxState is the maximum length of the JSON of the shared state, in bytes.
const MaxState = 1 << 20

// State is the JSON object that agent and user share. The zero State is an empty
// object that was never changed.
type State struct {
	Version int64     `json:"version"` // the number of changes
	Doc     event.Raw `json:"state,omitzero"`
}

// Change is a change of the shared state: either a merge patch (RFC 7396) or a JSON
// patch (RFC 6902).
type Change struct {
	// Version is the version on which the change is based. If the state has
	// another version, Apply returns a *ConflictError. nil accepts any version.
	Version *int64    `json:"version,omitempty"`
	Merge   event.Raw `json:"merge,omitzero"`
	Patch   event.Raw `json:"patch,omitzero"`
}

// ConflictError is returned if the state is no longer at the version of a change.
type ConflictError struct {
	Version int64 // of the change
	Now     State
}

func (e *ConflictError) Error() string {
	return fmt.Sprintf("the change was made from version %d, and the state is at version %d: %s", e.Version, e.Now.Version, e.Now.doc())
}

func (s State) doc() event.Raw {
	if s.Doc == nil {
		return event.Raw("{}")
	}
	return s.Doc
}

// Apply returns the state after a change. It returns the same state if the change has
// no effect or is an error. The document has a normal form: no white space, and the
// members of objects ordered by name.
func (s State) Apply(c Change) (State, error) {
	if c.Version != nil && *c.Version != s.Version {
		return s, &ConflictError{*c.Version, s}
	}
	if len(c.Merge) > 0 == (len(c.Patch) > 0) {
		return s, errors.New("a change has either merge or patch")
	}
	var out event.Raw
	var err error
	if len(c.Merge) > 0 {
		out, err = mergePatch(s.doc(), c.Merge)
	} else {
		out, err = jsonPatch(s.doc(), c.Patch)
	}
	if err != nil {
		return s, err
	}
	if out, err = tidy(out); err != nil {
		return s, err
	}
	if string(out) == string(s.doc()) {
		return s, nil
	}
	return State{s.Version + 1, out}, nil
}

// tidy brings a document into its one form.
func tidy(doc event.Raw) (event.Raw, error) {
	switch {
	case doc.Kind() != '{':
		return nil, errors.New("the state must be an object")
	case len(doc) > MaxState:
		return nil, fmt.Errorf("the state would be %d bytes long; %d are allowed", len(doc), MaxState)
	}
	doc = doc.Clone()
	if err := doc.Compact(jsontext.ReorderRawObjects(true), jsontext.PreserveRawStrings(false)); err != nil {
		return nil, err
	}
	return doc, nil
}

func jsonPatch(doc, patch event.Raw) (event.Raw, error) {
	if !patch.IsValid() {
		return nil, errors.New("patch: it is not valid JSON")
	}
	p, err := jsonpatch.DecodePatch(patch)
	if err != nil {
		return nil, fmt.Errorf("patch: %w", err)
	}
	out, err := p.ApplyWithOptions(doc, &jsonpatch.ApplyOptions{AccumulatedCopySizeLimit: MaxState})
	if err != nil {
		return nil, fmt.Errorf("patch: %w", err)
	}
	return out, nil
}

// mergePatch implements RFC 7396. The library's function is not used because it
// changes lists: it drops null members of the objects in them.
func mergePatch(doc, patch event.Raw) (event.Raw, error) {
	if patch.Kind() != '{' || !patch.IsValid() {
		return nil, errors.New("merge: it is not an object")
	}
	return mergeValue(doc, patch)
}

func mergeValue(doc, patch event.Raw) (event.Raw, error) {
	if patch.Kind() != '{' {
		return patch, nil
	}
	under, over := map[string]jsontext.Value{}, map[string]jsontext.Value{}
	if doc.Kind() == '{' {
		if err := json.Unmarshal(doc, &under); err != nil {
			return nil, err
		}
	}
	if err := json.Unmarshal(patch, &over); err != nil {
		return nil, err
	}
	for name, v := range over {
		if v.Kind() == 'n' {
			delete(under, name)
			continue
		}
		m, err := mergeValue(under[name], v)
		if err != nil {
			return nil, err
		}
		under[name] = m
	}
	return json.Marshal(under, json.Deterministic(true))
}

// valueAt returns the value at a JSON pointer, or nil.
func valueAt(doc event.Raw, ptr string) event.Raw {
	for name := range jsontext.Pointer(ptr).Tokens() {
		switch doc.Kind() {
		case '{':
			var m map[string]jsontext.Value
			if json.Unmarshal(doc, &m) != nil {
				return nil
			}
			doc = m[name]
		case '[':
			var l []jsontext.Value
			var i uint
			if json.Unmarshal(doc, &l) != nil || json.Unmarshal([]byte(name), &i) != nil || i >= uint(len(l)) {
				return nil
			}
			doc = l[i]
		default:
			return nil
		}
		if doc == nil {
			return nil
		}
	}
	return doc
}

// propsOf returns the props of a projection for a document, and whether it is shown.
func (p *Projection) propsOf(doc event.Raw) (event.Raw, bool) {
	v := valueAt(doc, p.Path)
	if v == nil || len(p.Props) == 0 {
		return v, v != nil
	}
	out := map[string]jsontext.Value{}
	for name, ptr := range p.Props {
		if m := valueAt(doc, ptr); m != nil {
			out[name] = m
		}
	}
	b, err := json.Marshal(out, json.Deterministic(true))
	if err != nil {
		return nil, false // unreachable: all members are JSON
	}
	return b, true
}
