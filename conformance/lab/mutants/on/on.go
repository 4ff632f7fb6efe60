// Package on holds the switch of the mutants, of which one build holds all, and a run turns one
// on by its number. It is not part of the stable interface. Code of any folder calls it at each
// mutant when conformance/lab/mutants has rewritten it, and none does as it stands.
package on

import (
	"cmp"
	"os"
	"strconv"
	"sync/atomic"
)

// env names the variable with the mutant that is on from the start; 0 is none.
const env = "TURNSPEC_MUTANT"

// most bounds the number of mutants.
const most = 1 << 16

// Exit codes of a program that does not end because of a mutant.
const (
	Spins = 8
	Grows = 7
)

var (
	active = fromStart()
	quiet  atomic.Bool // no list is made; it is false until main, to list what package initialization asks
	calls  atomic.Int64
	limit  atomic.Int64
	seen   [most]atomic.Bool
)

func fromStart() *atomic.Int64 {
	n, _ := strconv.Atoi(os.Getenv(env)) // "" means none
	var v atomic.Int64
	v.Store(int64(n))
	return &v
}

// Set turns a mutant on and all others off; 0 turns all off. If more than limit
// questions are asked, the program exits with Spins; 0 is no limit.
func Set(id int, questions int64) {
	active.Store(int64(id))
	calls.Store(0)
	limit.Store(questions)
}

// Trace starts or ends a list of the mutants that would have changed a result.
func Trace(on bool) {
	for i := range seen {
		seen[i].Store(false)
	}
	calls.Store(0)
	quiet.Store(!on)
}

// Traced returns the list and the number of questions that were asked.
func Traced() (ids []int, questions int64) {
	for i := range seen {
		if seen[i].Load() {
			ids = append(ids, i)
		}
	}
	return ids, calls.Load()
}

// is reports whether a mutant is on. differs reports whether that would change the
// result here.
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

// Not returns the condition, or its negation.
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

// Number is a numeric type.
type Number interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~float32 | ~float64
}

// Integer is an integer type.
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

// Word returns the string of a case, or one that never occurs. It matters if the
// switch compares with that string.
func Word[T ~string](id int, w T, matters bool) T {
	if is(id, matters) {
		return w + "\x00"
	}
	return w
}

// Zero returns the value, or its zero value.
func Zero[T any](id int, v T) T {
	if is(id, true) {
		var none T
		return none
	}
	return v
}
