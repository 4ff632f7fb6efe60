package adapters_test

import (
	"context"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/op"
)

// plainSession has no optional ability.
type plainSession struct{ name string }

func (*plainSession) Send(context.Context, adapters.Message) error          { return nil }
func (*plainSession) Events() <-chan event.Event                            { return nil }
func (*plainSession) Stop(context.Context) error                            { return nil }
func (*plainSession) Answer(context.Context, string, adapters.Answer) error { return nil }
func (*plainSession) Close(context.Context) error                           { return nil }

// steerableSession has two abilities, one of which its runtime lacks.
type steerableSession struct{ plainSession }

func (*steerableSession) Steer(context.Context, adapters.Message) error { return nil }
func (*steerableSession) Compact(context.Context) error                 { return adapters.ErrUnsupported }

// wrapperSession adds nothing but its Unwrap.
type wrapperSession struct {
	adapters.Session
}

func (w wrapperSession) Unwrap() adapters.Session { return w.Session }

// backlogSession wraps a session and reports a backlog.
type backlogSession struct {
	wrapperSession
	depth int
}

func (b backlogSession) Backlog() (int, time.Duration) { return b.depth, 0 }

// opaqueSession wraps a session and has no Unwrap.
type opaqueSession struct{ adapters.Session }

func TestAsFindsAbilityBehindWrappers(t *testing.T) {
	inner := &steerableSession{plainSession{"inner"}}
	for name, s := range map[string]adapters.Session{
		"unwrapped":   inner,
		"one wrapper": wrapperSession{inner},
		"two":         wrapperSession{wrapperSession{inner}},
		"different":   wrapperSession{backlogSession{wrapperSession{inner}, 3}},
	} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			st, ok := adapters.As[adapters.Steerer](s)
			g.Expect(ok).To(gomega.BeTrue())
			g.Expect(st).To(gomega.BeIdenticalTo(inner))
			typed, ok := adapters.As[*steerableSession](s)
			g.Expect(ok).To(gomega.BeTrue(), "a concrete type is found too")
			g.Expect(typed).To(gomega.BeIdenticalTo(inner))
			_, ok = adapters.As[adapters.Renamer](s)
			g.Expect(ok).To(gomega.BeFalse(), "nothing in the chain implements it")
		})
	}
}

func TestAsReturnsOutermost(t *testing.T) {
	g := gomega.NewWithT(t)
	s := wrapperSession{backlogSession{wrapperSession{backlogSession{wrapperSession{&plainSession{}}, 1}}, 2}}
	b, ok := adapters.As[adapters.Backlogger](s)
	g.Expect(ok).To(gomega.BeTrue())
	depth, _ := b.Backlog()
	g.Expect(depth).To(gomega.Equal(2))
}

func TestAsStopsAtSessionWithoutUnwrap(t *testing.T) {
	_, ok := adapters.As[adapters.Steerer](wrapperSession{opaqueSession{&steerableSession{}}})
	gomega.NewWithT(t).Expect(ok).To(gomega.BeFalse())
}

func TestAsWithoutSession(t *testing.T) {
	for name, s := range map[string]adapters.Session{
		"nil":              nil,
		"a wrapper of nil": wrapperSession{},
		"two around nil":   wrapperSession{wrapperSession{}},
	} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			st, ok := adapters.As[adapters.Steerer](s)
			g.Expect(ok).To(gomega.BeFalse())
			g.Expect(st).To(gomega.BeNil())
		})
	}
}

// TestAsLooksAtTypesOnly: a method that returns ErrUnsupported is found all the
// same.
func TestAsLooksAtTypesOnly(t *testing.T) {
	g := gomega.NewWithT(t)
	c, ok := adapters.As[adapters.Compacter](wrapperSession{&steerableSession{}})
	g.Expect(ok).To(gomega.BeTrue())
	g.Expect(c.Compact(t.Context())).To(gomega.MatchError(adapters.ErrUnsupported))
}

// TestOptionsThatNeedAnother checks the options that an adapter with all abilities refuses.
func TestOptionsThatNeedAnother(t *testing.T) {
	g := gomega.NewWithT(t)
	c := adapters.Capabilities{Can: op.SetOf().And("resume", "fork", "fork_at", "archive")}
	for want, o := range map[string]op.Opening{
		"fork: needs resume":      {Fork: true},
		"at: needs fork":          {Resume: "s", At: "m"},
		"unarchive: needs resume": {Unarchive: true},
	} {
		g.Expect(c.Refuse(adapters.Options{Opening: o})).To(gomega.MatchError(gomega.ContainSubstring(want)))
	}
	g.Expect(c.Refuse(adapters.Options{Opening: op.Opening{Resume: "s", Fork: true, At: "m"}})).To(gomega.Succeed())
	g.Expect(c.Refuse(adapters.Options{Opening: op.Opening{Resume: "s", Unarchive: true}})).To(gomega.Succeed())
}
