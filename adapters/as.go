package adapters

// As finds an ability of a session: it returns the outermost session in the
// chain of s that implements T, and reports whether there is one. T is usually
// an optional interface such as Steerer; a concrete session type works too.
//
//	if st, ok := adapters.As[adapters.Steerer](s); ok {
//		err := st.Steer(ctx, m)
//	}
//
// The chain is s itself, followed by the sessions that repeated calls of
// Unwrap return. A session that wraps another one implements
//
//	Unwrap() adapters.Session
//
// and overrides only the methods that it changes. A wrapper that must keep an
// ability of its inner session from being used implements that interface itself
// and returns ErrUnsupported.
//
// A wrapper that implements T wins, even if what it wraps does not: the first
// match ends the search. As looks at types only. A session may implement a
// method that its runtime, or this version of it, lacks; the method then returns
// ErrUnsupported, and As does not look further. So a caller handles both: a false
// from As and an ErrUnsupported from the call.
//
// A session may also run the optional operations by their names, as op.Doer. As does not find
// those; Do finds both.
//
// As returns the zero T and false if s is nil, or if an Unwrap returns nil before
// a match. A type assertion on a session does not unwrap: use As.
func As[T any](s Session) (T, bool) {
	for s != nil {
		if t, ok := s.(T); ok {
			return t, true
		}
		w, ok := s.(interface{ Unwrap() Session })
		if !ok {
			break
		}
		s = w.Unwrap()
	}
	var none T
	return none, false
}
