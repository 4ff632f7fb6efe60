package session

import (
	"regexp"
)

// anyID is an id of a session: a play gives its own in place of the recorded one.
var anyID = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)
