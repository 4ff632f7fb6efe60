package raced

// Sample is all of a list, or each nth of it where the race detector watches.
func Sample[T any](all []T, n int) []T {
	if !Enabled {
		return all
	}
	var out []T
	for i := 0; i < len(all); i += n {
		out = append(out, all[i])
	}
	return out
}
