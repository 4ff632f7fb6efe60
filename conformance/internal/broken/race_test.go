//go:build race

package broken_test

// raced: the race detector makes plays ten times slower. With it only some
// adapters are run, to look for races; what they prove is proven without it.
const raced = true
