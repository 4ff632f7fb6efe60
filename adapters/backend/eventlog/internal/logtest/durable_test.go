package logtest_test

import (
	"context"
	"math"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/backend/eventlog"
	"github.com/turnspec/turnspec/adapters/backend/eventlog/internal/logtest"
	"github.com/turnspec/turnspec/adapters/event"
)

// lossyStore makes another Memory with what the first holds, except for the lost part.
func lossyStore(events func([]event.Event) []event.Event, snapshots, media, owners bool) logtest.Store {
	ctx := context.Background()
	return logtest.Store{
		Open: func() (eventlog.Log, error) { return closedReadable{&eventlog.Memory{}}, nil },
		Reopen: func(closed eventlog.Log) (eventlog.Log, error) {
			from, to := closed.(closedReadable).Memory, &eventlog.Memory{}
			infos, err := from.Sessions(ctx)
			for _, info := range infos {
				if err := to.Append(ctx, events(storedEvents(from, info.SessionID))...); err != nil {
					return nil, err
				}
				seq, data, err := from.Snapshot(ctx, info.SessionID, "k", math.MaxInt64)
				if err != nil {
					return nil, err
				}
				if seq > 0 && snapshots {
					if err := to.PutSnapshot(ctx, info.SessionID, seq, "k", data); err != nil {
						return nil, err
					}
				}
				list, err := from.ListMedia(ctx, info.SessionID)
				for _, m := range list {
					_, data, err := from.Media(ctx, info.SessionID, m.SHA256)
					if err == nil && media {
						err = to.PutMedia(ctx, info.SessionID, m, data)
					}
					if err != nil {
						return nil, err
					}
				}
				if err != nil {
					return nil, err
				}
				owner, err := from.Owner(ctx, info.SessionID)
				if err == nil && owners {
					err = to.PutOwner(ctx, info.SessionID, owner)
				}
				if err != nil {
					return nil, err
				}
			}
			return closedReadable{to}, err
		},
	}
}

// closedReadable is a Memory that can be read after Close.
type closedReadable struct{ *eventlog.Memory }

func (closedReadable) Close() error { return nil }

func TestDurableCheckFindsLosses(t *testing.T) {
	all := func(events []event.Event) []event.Event { return events }
	for name, c := range map[string]struct {
		store logtest.Store
		fails bool
	}{
		"loses nothing": {lossyStore(all, true, true, true), false},
		"loses the last event": {lossyStore(func(events []event.Event) []event.Event {
			return events[:len(events)-1]
		}, true, true, true), true},
		"loses snapshots": {lossyStore(all, false, true, true), true},
		"loses media":     {lossyStore(all, true, false, true), true},
		"loses owners":    {lossyStore(all, true, true, false), true},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			for _, check := range logtest.Checks() {
				if !check.Durable {
					continue
				}
				if err := check.Run(t.Context(), c.store); c.fails {
					g.Expect(err).To(HaveOccurred())
				} else {
					g.Expect(err).NotTo(HaveOccurred())
				}
			}
		})
	}
}
