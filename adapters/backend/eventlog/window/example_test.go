package window_test

import (
	"context"
	"fmt"
	"time"

	"github.com/turnspec/turnspec/adapters/backend/eventlog"
	"github.com/turnspec/turnspec/adapters/backend/eventlog/window"
	"github.com/turnspec/turnspec/adapters/event"
)

// Show the end of a session, then the messages before it.
func Example() {
	ctx := context.Background()
	log := window.Keep(&eventlog.Memory{})
	seq := int64(0)
	for turn := 1; turn <= 1000; turn++ {
		for _, d := range []event.Data{
			event.UserMessage{MessageID: fmt.Sprint("m", turn), Text: fmt.Sprint("Question ", turn), Via: event.ViaTurn},
			event.Delta{Text: fmt.Sprint("Answer ", turn), MessageID: "a", BlockID: fmt.Sprint(turn)},
			event.Done{},
		} {
			seq++
			e := event.Event{Data: d, Seq: seq, SessionID: "s1", Turn: turn, TS: time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)}
			if err := log.Append(ctx, e); err != nil {
				panic(err)
			}
		}
	}
	w, err := window.Open(ctx, log, "s1", 10)
	if err != nil {
		panic(err)
	}
	shown := w.Messages()
	fmt.Println(shown[len(shown)-1].Text())
	older, err := w.Before(ctx, shown[0], 4)
	if err != nil {
		panic(err)
	}
	fmt.Println(len(older), older[3].Number == shown[0].Number-1)
	// Output:
	// Answer 1000
	// 4 true
}
