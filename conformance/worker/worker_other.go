//go:build !unix

package worker

import (
	"errors"
	"time"
)

// DeathError is how a worker ended while it did something.
type DeathError struct{ How, Said string }

func (d *DeathError) Error() string { return d.How + "\n" + d.Said }

// Pool starts workers; on this system it cannot.
type Pool struct{ Limit time.Duration }

// Of is the pool of a run.
func Of(string) *Pool { return &Pool{} }

// Serving reports whether this program is a worker of the run.
func Serving(string) bool { return false }

// Serve is never called here.
func Serve[Q, A any](func(Q) (a A, again bool)) {}

// Do says that there are no workers here.
func Do[Q, A any](*Pool, Q) (a A, err error) {
	return a, errors.New("worker processes need Linux or macOS: leave Config.Isolate empty")
}
