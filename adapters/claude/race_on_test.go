//go:build race

package claude_test

// sample: with the race detector, which makes all ten times slower, one in
// fifteen, to look for races; the whole is run without it.
func sample[T any](all []T) []T {
	var out []T
	for i := 0; i < len(all); i += 15 {
		out = append(out, all[i])
	}
	return out
}
