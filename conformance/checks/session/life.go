package session

import (
	"regexp"
)

// anyID matches the id of a session. A replay has other ids than the recording.
var anyID = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)
