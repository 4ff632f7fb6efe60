package conformance

import "github.com/turnspec/turnspec/adapters"

// Session is an adapters.Session.
type Session = adapters.Session

// Answer is an adapters.Answer.
type Answer = adapters.Answer
