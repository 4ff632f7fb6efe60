package postgres

import (
	"strings"
)

// Queries returns the queries of readers for a quoted session.
func Queries(session string) map[string]string {
	fill := strings.NewReplacer("$1", session, "$2", "7", "$3", "10", "$4", "100000")
	return map[string]string{"page": fill.Replace(selectPage)}
}
