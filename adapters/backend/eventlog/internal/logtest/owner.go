package logtest

import (
	"errors"
	"fmt"
	"maps"

	"github.com/turnspec/turnspec/adapters/backend/eventlog"
)

func (p *probe) putOwner(log eventlog.Log, session, owner string) {
	p.noError(log.PutOwner(p.ctx, session, owner), "PutOwner")
}

// wantOwners checks that these sessions, and no others, have an owner.
func (p *probe) wantOwners(log eventlog.Log, want map[string]string) {
	got, err := log.Owners(p.ctx)
	p.noError(err, "Owners")
	named := maps.Clone(want)
	maps.DeleteFunc(named, func(_, owner string) bool { return owner == "" })
	if !maps.Equal(got, named) {
		p.failf("owners: want %v, got %v", named, got)
	}
	for session, owner := range want {
		got, err := log.Owner(p.ctx, session)
		p.noError(err, "Owner")
		if got != owner {
			p.failf("owner of %q: want %q, got %q", session, owner, got)
		}
	}
}

func ownerKept(p *probe) {
	log := p.openLog()
	p.wantOwners(log, map[string]string{"unknown": ""})
	p.mustAppend(log, sampleEvents("imported", 1, 3)...)
	p.putOwner(log, "s", "alice")
	p.putOwner(log, "a b/*.>%", "Zoë")
	p.putOwner(log, "nobody", "")
	want := map[string]string{"s": "alice", "a b/*.>%": "Zoë", "nobody": "", "imported": "", "S": "", "unknown": ""}
	p.wantOwners(log, want)
	p.mustAppend(log, sampleEvents("s", 1, 3)...)
	p.wantOwners(log, want)
	if _, err := log.Session(p.ctx, "nobody"); !errors.Is(err, eventlog.ErrUnknownSession) {
		p.failf("a session with an owner and without events: want ErrUnknownSession, got %v", err)
	}
	p.wantEvents(log, "s", sampleEvents("s", 1, 3)) // an owner is no event
}

func ownerStays(p *probe) {
	log := p.openLog()
	p.putOwner(log, "s", "alice")
	p.putOwner(log, "nobody", "")
	for _, session := range []string{"s", "nobody"} {
		for _, other := range []string{"bob", "Alice"} {
			if err := log.PutOwner(p.ctx, session, other); !errors.Is(err, eventlog.ErrOwned) {
				p.failf("another owner of %q: want ErrOwned, got %v", session, err)
			}
		}
	}
	p.putOwner(log, "s", "alice")
	p.putOwner(log, "nobody", "")
	p.wantOwners(log, map[string]string{"s": "alice", "nobody": ""})
}

func ownerFirst(p *probe) {
	log := p.openLog()
	const callers = 8
	errs := make(chan error, callers)
	for i := range callers {
		go func() { errs <- log.PutOwner(p.ctx, "s", fmt.Sprint("user ", i)) }()
	}
	stored := 0
	for range callers {
		switch err := <-errs; {
		case err == nil:
			stored++
		case !errors.Is(err, eventlog.ErrOwned):
			p.failf("another owner: want ErrOwned, got %v", err)
		}
	}
	if stored != 1 {
		p.failf("%d of %d owners of a session were stored", stored, callers)
	}
}
