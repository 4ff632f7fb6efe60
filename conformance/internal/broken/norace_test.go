//go:build !race

package broken_test

const raced = false
