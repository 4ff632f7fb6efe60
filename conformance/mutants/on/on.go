// Package on answers one question: which mutant is on? Code that
// conformance/mutants has rewritten asks it wherever a mutant lies; no other code
// imports it. One build so holds all mutants, and a run picks one by its number.
package on

import (
	"cmp"
	"os"
	"strconv"
	"sync/atomic"
)

// env is the number of the mutant that is on from the start; 0 is none.
const env = "TURNSPEC_MUTANT"

// most is how many mutants there may be.
const most = 1 << 16

// Exit codes of a program that a mutant keeps from coming to an end.
const (
	Spins = 8
	Grows = 7
)

var (
	active = fromStart()
	quiet  atomic.Bool // no list is made; at first one is, of what is asked before main
	calls  atomic.Int64
	limit  atomic.Int64
	seen   [most]atomic.Bool
)

func fromStart() *atomic.Int64 {
	n, _ := strconv.Atoi(os.Getenv(env)) // "" is none
	var v atomic.Int64
	v.Store(int64(n))
	return &v
}

// Set turns a mutant on and all others off; 0 turns all off. The program ends
// with Spins once more than so many questions were asked; 0 is no limit.
func Set(id int, questions int64) {
	active.Store(int64(id))
	calls.Store(0)
	limit.Store(questions)
}

// Trace starts a list of the mutants that would have made a difference where
// they lie, or ends it.
func Trace(on bool) {
	for i := range seen {
		seen[i].Store(false)
	}
	calls.Store(0)
	quiet.Store(!on)
}

// Traced is the list, and how many questions were asked.
func Traced() (ids []int, questions int64) {
	for i := range seen {
		if seen[i].Load() {
			ids = append(ids, i)
		}
	}
	return ids, calls.Load()
}

// is reports whether a mutant is on. differs says whether that would change
// anything here.
func is(id int, differs bool) bool {
	n := calls.Add(1)
	if l := limit.Load(); l > 0 && n > l {
		os.Exit(Spins)
	}
	if differs && !quiet.Load() {
		seen[id].Store(true)
	}
	return active.Load() == int64(id)
}

// Keep reports whether a statement is kept.
func Keep(id int) bool { return !is(id, true) }

// Not is a condition, or its contrary.
func Not(id int, v bool) bool { return v != is(id, true) }

// And is a && b, or a || b.
func And(id int, a bool, b func() bool) bool {
	if is(id, false) {
		return a || b()
	}
	v := a && b()
	if !v { // both true is true either way
		is(id, true)
	}
	return v
}

// Or is a || b, or a && b.
func Or(id int, a bool, b func() bool) bool {
	if is(id, false) {
		return a && b()
	}
	v := a || b()
	if v { // both false is false either way
		is(id, true)
	}
	return v
}

// Less is a < b, or a <= b by the mutant edge, or a >= b by the mutant not.
func Less[T cmp.Ordered](edge, not int, a, b T) bool {
	if is(edge, a == b) {
		return a <= b
	}
	return Not(not, a < b)
}

// LessEqual is a <= b, or a < b by the mutant edge, or a > b by the mutant not.
func LessEqual[T cmp.Ordered](edge, not int, a, b T) bool {
	if is(edge, a == b) {
		return a < b
	}
	return Not(not, a <= b)
}

// LessSwapped is a > b, with the mutants of b < a.
func LessSwapped[T cmp.Ordered](edge, not int, a, b T) bool { return Less(edge, not, b, a) }

// LessEqualSwapped is a >= b, with the mutants of b <= a.
func LessEqualSwapped[T cmp.Ordered](edge, not int, a, b T) bool { return LessEqual(edge, not, b, a) }

// Number is what can be counted with.
type Number interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~float32 | ~float64
}

// Integer is what has a rest when it is divided.
type Integer interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64
}

// Add is a + b, or a - b.
func Add[T Number](id int, a, b T) T {
	if is(id, b != 0) {
		return a - b
	}
	return a + b
}

// Sub is a - b, or a + b.
func Sub[T Number](id int, a, b T) T {
	if is(id, b != 0) {
		return a + b
	}
	return a - b
}

// Mul is a * b, or a / b.
func Mul[T Number](id int, a, b T) T {
	if is(id, true) {
		return a / b
	}
	return a * b
}

// Quo is a / b, or a * b.
func Quo[T Number](id int, a, b T) T {
	if is(id, true) {
		return a * b
	}
	return a / b
}

// Rem is a % b, or a * b.
func Rem[T Integer](id int, a, b T) T {
	if is(id, true) {
		return a * b
	}
	return a % b
}

// Inc is *p++, or *p--.
func Inc[T Number](id int, p *T) { *p = Add(id, *p, 1) }

// Dec is *p--, or *p++.
func Dec[T Number](id int, p *T) { *p = Sub(id, *p, 1) }

// Grow is *p += v, or *p -= v.
func Grow[T Number](id int, p *T, v T) { *p = Add(id, *p, v) }

// Shrink is *p -= v, or *p += v.
func Shrink[T Number](id int, p *T, v T) { *p = Sub(id, *p, v) }

// Word is the word of a case, or one that nobody says. It matters where the
// switch looks at that word.
func Word[T ~string](id int, w T, matters bool) T {
	if is(id, matters) {
		return w + "\x00"
	}
	return w
}

// Zero is a value, or none.
func Zero[T any](id int, v T) T {
	if is(id, true) {
		var none T
		return none
	}
	return v
}
