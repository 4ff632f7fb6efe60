package paint

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/turnspec/turnspec/adapters/backend/page/browser"
	"github.com/turnspec/turnspec/conformance/lab/bench"
)

// live measures a turn, from the click on send to the frame that shows its last delta.
func (r *run) live(ctx context.Context, c contender, load string) error {
	id, err := r.server.open(ctx, load)
	if err != nil {
		return err
	}
	return r.in(ctx, c, id, func(t *browser.Tab) error {
		if err := evaluateAll(ctx, t, c.mark, watchFrames, fmt.Sprintf(c.send, id)); err != nil {
			return err
		}
		// The turn ends two events after its last delta.
		last := int64(3 + r.server.sources[load].deltas)
		shown := fmt.Sprintf(`performance.getEntriesByName("turnspec:frame").some((m) => m.detail >= %d)`, last)
		if err := t.Until(ctx, shown); err != nil {
			return err
		}
		m, err := readMarks(ctx, t)
		if err != nil {
			return err
		}
		longest, err := browser.Eval[float64](ctx, t, `globalThis.longestFrame`)
		if err != nil {
			return err
		}
		began := r.server.sources[load].session(id).times()
		if load == Turn {
			return r.addPhases(c, m)
		}
		return r.addFlood(c, m, began, longest)
	})
}

// watchFrames holds the longest time between two frames in longestFrame, in seconds.
const watchFrames = `(() => {
  globalThis.longestFrame = 0;
  let last = performance.now();
  const next = (now) => {
    longestFrame = Math.max(longestFrame, (now - last) / 1000);
    last = now;
    requestAnimationFrame(next);
  };
  requestAnimationFrame(next);
})()`

func evaluateAll(ctx context.Context, t *browser.Tab, expressions ...string) error {
	for _, e := range expressions {
		if _, err := browser.Eval[any](ctx, t, e); err != nil {
			return fmt.Errorf("%.80s: %w", e, err)
		}
	}
	return nil
}

func (r *run) addPhases(c contender, m marks) error {
	for _, p := range bench.ScreenPhases {
		from, to := m.stages[p.From], m.stages[p.To]
		if from.IsZero() || to.IsZero() {
			return fmt.Errorf("the page has not marked %s and %s, only %v", p.From, p.To, slices.Sorted(maps.Keys(m.stages)))
		}
		r.add(Turn, c, p.Name, max(0, to.Sub(from)).Seconds())
	}
	return nil
}

// addFlood adds how long it took until all was shown, and how far what was shown was
// behind. A frame shows all events up to its seq.
func (r *run) addFlood(c contender, m marks, began map[int64]time.Time, longest float64) error {
	seqs := slices.Sorted(maps.Keys(began))
	if len(seqs) == 0 {
		return errors.New("the turn had no delta")
	}
	var age time.Duration
	depth, shown := 0, 0 // deltas; how many are shown
	var end time.Time
	for _, f := range m.frames {
		if shown < len(seqs) && f.seq >= seqs[0] {
			age = max(age, f.at.Sub(began[seqs[shown]]))
		}
		emitted, _ := slices.BinarySearchFunc(seqs, f.at, func(seq int64, at time.Time) int { return began[seq].Compare(at) })
		depth = max(depth, emitted-shown)
		for shown < len(seqs) && seqs[shown] <= f.seq {
			if shown++; shown == len(seqs) {
				end = f.at
			}
		}
	}
	if shown < len(seqs) {
		return fmt.Errorf("%d of %d deltas were drawn", shown, len(seqs))
	}
	r.add(Flood, c, "painted", end.Sub(began[seqs[0]]).Seconds())
	r.add(Flood, c, "backlog-depth", float64(depth))
	r.add(Flood, c, "backlog-age", age.Seconds())
	r.add(Flood, c, "longest-frame", longest)
	return nil
}

// stored measures how a stored session is opened, and scrolls through what is drawn.
func (r *run) stored(ctx context.Context, c contender, events int) error {
	id, load := storedID(c.name, events), storedLoad(events)
	return r.in(ctx, c, firstID, func(t *browser.Tab) error {
		if err := evaluateAll(ctx, t, c.mark, watchFrames, fmt.Sprintf(c.choose, id)); err != nil {
			return err
		}
		if err := t.Until(ctx, `performance.getEntriesByName("turnspec:idle").length > 0`); err != nil {
			return err
		}
		m, err := readMarks(ctx, t)
		if err != nil {
			return err
		}
		for _, p := range bench.OpeningPhases {
			from, to := m.stages[p.From], m.stages[p.To]
			if to.IsZero() && c.name != Page {
				continue // a control has no shell
			}
			if from.IsZero() || to.IsZero() {
				return fmt.Errorf("the page has not marked %s and %s, only %v", p.From, p.To, slices.Sorted(maps.Keys(m.stages)))
			}
			r.add(load, c, p.Name, max(0, to.Sub(from)).Seconds())
		}
		rows, err := browser.Eval[float64](ctx, t, scroll)
		if err != nil {
			return err
		}
		longest, err := browser.Eval[float64](ctx, t, `globalThis.longestFrame`)
		if err != nil {
			return err
		}
		r.add(load, c, "rows", rows)
		r.add(load, c, "longest-frame", longest)
		return nil
	})
}

// scroll scrolls from the end to the beginning in steps of half a screen, a frame each,
// and returns how many elements the chat has.
const scroll = `(async () => {
  const box = document.getElementById("chat");
  for (let i = 0; i < 200 && (i === 0 || box.scrollTop > 0); i++) {
    box.scrollTop -= box.clientHeight / 2;
    await new Promise(requestAnimationFrame);
  }
  return box.querySelectorAll("*").length;
})()`
