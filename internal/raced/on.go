//go:build race

package raced

// Enabled says that the race detector watches.
const Enabled = true
