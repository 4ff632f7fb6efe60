//go:build !race

package adapters_test

// fewer divides the rounds of long tests: the race detector is slow.
const fewer = 1
