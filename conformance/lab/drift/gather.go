package drift

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"time"

	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/schema"
	"github.com/turnspec/turnspec/recorder"
	"github.com/turnspec/turnspec/recorder/runtimes"
)

// Stored returns the side whose recordings the corpus holds. ok is false if there
// are none.
func Stored(c fixtures.Corpus, scenarios []*fixtures.Scenario, runtime, version string) (side Side, ok bool, err error) {
	side = emptySide(version)
	for _, s := range scenarios {
		k, err := c.LoadCase(path.Join(runtime, version, s.ID))
		switch {
		case err == nil:
			side.Cases[s.ID] = k
			ok = true
		case !errors.Is(err, fs.ErrNotExist):
			return side, false, err
		default:
			side.Excluded[s.ID] = s.Excluded(runtime, version)
		}
	}
	for id, why := range side.Excluded {
		if ok && why == "" {
			side.Failed[id] = errors.New("the corpus holds no case, and the scenario does not say why")
		}
	}
	side.Lifecycle, err = c.LoadReadReplies(runtime, version)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return side, ok, err
}

// Recorded records a side now, with an installed runtime.
func Recorded(ctx context.Context, scenarios []*fixtures.Scenario, rt runtimes.Runtime, progress func(done, total int, id string)) (Side, error) {
	side, err := RecordedScenarios(ctx, scenarios, rt, progress)
	if err != nil {
		return side, err
	}
	plain, err := fixtures.LoadScenario(recorder.ReadsScenario)
	if err != nil {
		return side, err
	}
	side.Lifecycle, _, err = recorder.RecordReads(ctx, recorder.Options{Scenario: plain, Found: &rt, Deadline: deadline})
	if err != nil {
		side.Failed["lifecycle"] = err
	}
	return side, ctx.Err()
}

// RecordedScenarios records scenarios now, without the replies to reads.
func RecordedScenarios(ctx context.Context, scenarios []*fixtures.Scenario, rt runtimes.Runtime, progress func(done, total int, id string)) (Side, error) {
	side := emptySide(rt.Version)
	known := nearestPinned(rt.Name, rt.Version)
	for i, s := range scenarios {
		if progress != nil {
			progress(i, len(scenarios), s.ID)
		}
		if why := s.Excluded(rt.Name, known); why != "" {
			side.Excluded[s.ID] = why
			continue
		}
		var k *fixtures.Case
		var err error
		for n := 0; n < tries && ctx.Err() == nil; n++ {
			if k, _, err = recorder.Record(ctx, recorder.Options{Scenario: s, Found: &rt, Deadline: deadline}); err == nil {
				break
			}
		}
		switch {
		case ctx.Err() != nil:
			return side, ctx.Err()
		case err != nil:
			side.Failed[s.ID] = err
		default:
			side.Cases[s.ID] = k
		}
	}
	return side, ctx.Err()
}

// tries is how often a scenario must fail before it counts as failed.
const tries = 3

// deadline bounds a recording. One takes about a second, and many more on a machine
// under load.
const deadline = time.Minute

func emptySide(version string) Side {
	return Side{Version: version, Cases: map[string]*fixtures.Case{}, Excluded: map[string]string{}, Failed: map[string]error{}}
}

// nearestPinned returns the newest pinned version that is not newer than version.
// What scenarios say about that version is assumed of the newer one too.
func nearestPinned(runtime, version string) string {
	pinned := runtimes.Versions(runtime) // the newest first
	for _, v := range pinned {
		if fixtures.CompareVersions(v, version) <= 0 {
			return v
		}
	}
	return pinned[len(pinned)-1]
}

// StoredSchema returns the schema of a version in the corpus, or nil.
func StoredSchema(c fixtures.Corpus, runtime, version string) (*schema.Schema, error) {
	b, err := c.Schema(runtime, version)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return schema.Parse(path.Join(c.Root, runtime, version, "schema.txt"), b)
}
