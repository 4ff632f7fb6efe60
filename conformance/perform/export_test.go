package perform

// SessionID is sessionID, for tests.
var SessionID = sessionID
