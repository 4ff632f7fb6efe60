package session

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
)

// doer is a Session, for adapters that hide some of its methods.
type doer interface {
	Do(ctx context.Context, f func(reply func(error))) error
}

// List calls read under the session's lock and returns the list that read replies with.
func List(ctx context.Context, s doer, read func(reply func([]adapters.Listed, error))) ([]adapters.Listed, error) {
	lists := make(chan []adapters.Listed, 1)
	err := s.Do(ctx, func(reply func(error)) {
		read(func(list []adapters.Listed, err error) {
			if err == nil {
				lists <- list
			}
			reply(err)
		})
	})
	if err != nil {
		return nil, fmt.Errorf("list: %w", err)
	}
	select {
	case list := <-lists:
		return list, nil
	default:
		return nil, errors.New("list: the reply was not read, because nobody reads the session's events")
	}
}

// UnsupportedList is the error for a list that a runtime does not report.
func UnsupportedList(list adapters.List) error {
	return fmt.Errorf("%s: %w", list, adapters.ErrUnsupported)
}

// AppendListed appends an entry with a copy of its raw value, unless the list has one of
// that id already or the id is empty.
func AppendListed(list []adapters.Listed, e adapters.Listed, raw jsontext.Value) []adapters.Listed {
	if e.ID == "" {
		return list
	}
	for _, x := range list {
		if x.ID == e.ID {
			return list
		}
	}
	e.Raw = raw.Clone()
	return append(list, e)
}
