package dialect

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/turnspec/turnspec/adapters/event"
)

// patchOperation is an operation of RFC 6902.
type patchOperation struct {
	Op    string    `json:"op"`
	Path  string    `json:"path"`
	From  string    `json:"from"`
	Value event.Raw `json:"value"`
}

// Patch applies a list of operations of RFC 6902 to a value, as json.Unmarshal makes it of an any. It
// returns the new value and does not change the old one.
func Patch(value any, operations event.Raw) (any, error) {
	var ops []patchOperation
	if err := json.Unmarshal(operations, &ops, lenient); err != nil {
		return value, fmt.Errorf("not a list of operations: %w", err)
	}
	out := value
	for i, op := range ops {
		var err error
		if out, err = op.apply(out); err != nil {
			return value, fmt.Errorf("operation %d, %s %q: %w", i+1, op.Op, op.Path, err)
		}
	}
	return out, nil
}

func (op patchOperation) apply(value any) (any, error) {
	path, err := pointerTokens(op.Path)
	if err != nil {
		return nil, err
	}
	var operand any
	switch op.Op {
	case "add", "replace", "test":
		if op.Value == nil {
			return nil, errors.New("it has no value")
		}
		if err := json.Unmarshal(op.Value, &operand, lenient); err != nil {
			return nil, err
		}
	case "move", "copy":
		from, err := pointerTokens(op.From)
		if err == nil {
			operand, err = lookUp(value, from)
		}
		if err == nil && op.Op == "move" {
			value, err = edit(value, from, "remove", nil)
		}
		if err != nil {
			return nil, fmt.Errorf("from %q: %w", op.From, err)
		}
		return edit(value, path, "add", operand)
	case "remove":
	default:
		return nil, errors.New("no such operation")
	}
	if op.Op == "test" {
		got, err := lookUp(value, path)
		if err == nil && !reflect.DeepEqual(got, operand) {
			err = errors.New("the value is another one")
		}
		return value, err
	}
	return edit(value, path, op.Op, operand)
}

// pointerTokens splits a JSON pointer.
func pointerTokens(s string) ([]string, error) {
	if s == "" {
		return nil, nil
	}
	if s[0] != '/' {
		return nil, errors.New("not a JSON pointer")
	}
	tokens := strings.Split(s[1:], "/")
	for i, t := range tokens {
		tokens[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(t)
	}
	return tokens, nil
}

var errNoSuchPlace = errors.New("there is nothing")

func lookUp(value any, path []string) (any, error) {
	for _, token := range path {
		switch v := value.(type) {
		case map[string]any:
			next, ok := v[token]
			if !ok {
				return nil, errNoSuchPlace
			}
			value = next
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(v) {
				return nil, errNoSuchPlace
			}
			value = v[i]
		default:
			return nil, errNoSuchPlace
		}
	}
	return value, nil
}

// edit returns a copy of a value in which the place at path is added, replaced or removed.
func edit(value any, path []string, op string, operand any) (any, error) {
	if len(path) == 0 {
		return operand, nil // null, if the whole was removed
	}
	token, last := path[0], len(path) == 1
	switch v := value.(type) {
	case map[string]any:
		old, ok := v[token]
		if !ok && (!last || op != "add") {
			return nil, errNoSuchPlace
		}
		out := maps.Clone(v)
		if last && op == "remove" {
			delete(out, token)
			return out, nil
		}
		next, err := edit(old, path[1:], op, operand)
		out[token] = next
		return out, err
	case []any:
		i, err := strconv.Atoi(token)
		if last && op == "add" && token == "-" {
			i, err = len(v), nil
		}
		if err != nil || i < 0 || i > len(v) || i == len(v) && (!last || op != "add") {
			return nil, errNoSuchPlace
		}
		out := slices.Clone(v)
		switch {
		case last && op == "add":
			return slices.Insert(out, i, operand), nil
		case last && op == "remove":
			return slices.Delete(out, i, i+1), nil
		}
		out[i], err = edit(out[i], path[1:], op, operand)
		return out, err
	}
	return nil, errNoSuchPlace
}
