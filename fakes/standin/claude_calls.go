package standin

import "github.com/go-json-experiment/json/jsontext"

// claudeMCP is a message to the client as an MCP server.
type claudeMCP struct {
	ID     jsontext.Value `json:"id"`
	Method string         `json:"method"`
	Params struct {
		RequestID jsontext.Value `json:"requestId"`
	} `json:"params"`
}

// mcpCall is the id of a call that the message makes of one of the client's tools,
// or of the call that it takes back.
func mcpCall(message jsontext.Value) (made, cancelled string) {
	var m claudeMCP
	_ = decode(message, &m) // what is no such message has none of these
	switch m.Method {
	case "tools/call":
		return string(m.ID), ""
	case "notifications/cancelled":
		return "", string(m.Params.RequestID)
	}
	return "", ""
}
