// Package different offers correct adapters that are unlike the references, which prove
// that the checks accept every correct adapter. It is not part of the stable interface.
//
// Each is the reference with one change that the event contract allows. TestDifferent
// runs them against all checks: they must fail none, except the checks of delays that
// an adapter names because it delays events.
package different
