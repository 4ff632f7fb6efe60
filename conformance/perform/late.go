package perform

import (
	"context"
	"errors"
	"time"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fixtures"
)

// lateMessage is the id of the message that is sent to a session which has ended.
const lateMessage = "late"

// afterwards does to a session that has ended what a client does who has not
// noticed yet: a message, a stop, a close.
func (d *director) afterwards(ctx context.Context, sess conformance.Session) {
	for _, act := range []fixtures.Step{
		{Verb: fixtures.VerbSend, ID: lateMessage, Text: "Is anybody there?"},
		{Verb: fixtures.VerbStop},
		{Verb: fixtures.VerbClose},
	} {
		if !d.late(ctx, sess, act) {
			return
		}
	}
}

// late does an act on a session that has ended; false: it did not return. In
// real time a subject's program may have ended with its session.
func (d *director) late(ctx context.Context, sess conformance.Session, act fixtures.Step) bool {
	if !d.stage.virtual() {
		return false
	}
	at := time.Since(d.start)
	err := d.wait(ctx, sess, act)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.run.StepsAfterEnd = append(d.run.StepsAfterEnd, conformance.StepResult{Step: act, At: at, For: time.Since(d.start) - at, Err: err})
	return !Unfinished(err)
}

// AtRest is an act that a check may want: for long, longer than every limit, the
// client does nothing.
var LongIdle = fixtures.Step{Verb: fixtures.VerbWait, What: "long"}

const restFor = 15 * time.Minute

// rest lets time pass in which nobody asks for anything.
func (d *director) rest() {
	d.mu.Lock()
	d.run.Steps = append(d.run.Steps, conformance.StepResult{Step: LongIdle, At: time.Since(d.start), For: restFor})
	d.mu.Unlock()
	time.Sleep(restFor)
}

var errNotBegun = errors.New("the act could not be begun")

// Unbegun reports whether an act's error is the suite's: what the act is about
// the subject's events did not tell.
func NotStarted(err error) bool {
	return errors.Is(err, errNotBegun) || errors.Is(err, conformance.ErrDeclaredUnsupported)
}
