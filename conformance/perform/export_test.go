package perform

// SessionID exports sessionID for tests.
var SessionID = sessionID
