package standin

import (
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
)

// codexForms are the members without which codex does not understand a reply, by
// the method of its request. It then says nothing to its client: the command fails,
// or the question stays open.
var codexForms = map[string][]string{
	"item/commandExecution/requestApproval": {"decision"},
	"item/fileChange/requestApproval":       {"decision"},
	"item/permissions/requestApproval":      {"permissions"},
	"item/tool/requestUserInput":            {"answers"},
	"mcpServer/elicitation/request":         {"action"},
	"item/tool/call":                        {"contentItems", "success"},
	"execCommandApproval":                   {"decision"},
	"applyPatchApproval":                    {"decision"},
}

func (codexDialect) misfit(asked string, reply []byte) string {
	var f struct {
		Result map[string]jsontext.Value `json:"result"`
		Error  jsontext.Value            `json:"error"`
	}
	if decode(reply, &f) == nil && f.Error != nil {
		return "" // of each request
	}
	for _, member := range codexForms[asked] {
		if f.Result[member] == nil {
			return fmt.Sprintf("the reply to %s has no %s: %.200s", asked, member, reply)
		}
	}
	return ""
}

// isError reports whether a value is an error of JSON-RPC: a number and words.
func isError(v jsontext.Value) bool {
	var e struct {
		Code    *int    `json:"code"`
		Message *string `json:"message"`
	}
	return v != nil && decode(v, &e) == nil && e.Code != nil && e.Message != nil
}
