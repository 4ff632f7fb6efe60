//go:build !unix

package worker

import (
	"errors"
	"time"
)

// Supported reports whether this system has worker processes.
const Supported = false

// DeathError reports that a worker ended during a request.
type DeathError struct{ How, Said string }

func (d *DeathError) Error() string { return d.How + "\n" + d.Said }

// Pool starts no workers on this system.
type Pool struct{ Limit time.Duration }

// Of returns the pool of a run.
func Of(string) *Pool { return &Pool{} }

// Serving returns false, because there are no workers on this system.
func Serving(string) bool { return false }

// Serve is never called here.
func Serve[Q, A any](func(Q) (a A, again bool)) {}

// Do returns an error, because there are no workers on this system.
func Do[Q, A any](*Pool, Q) (a A, err error) {
	return a, errors.New("worker processes need Linux or macOS: leave Config.Isolate empty")
}
