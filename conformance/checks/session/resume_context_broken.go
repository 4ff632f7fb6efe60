package session

import (
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var resumesFresh = broken.Adapter{
	Name: "resumes-fresh", Sentence: "opens a new session instead of the old one",
	Proves: "session.resume-context",
	Mutation: broken.Mutation{Open: func(o *conformance.Open) {
		if !o.Fork {
			o.Resume = ""
		}
	}},
}
