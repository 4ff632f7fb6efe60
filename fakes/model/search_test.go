package model

import (
	"testing"

	. "github.com/onsi/gomega"
)

// TestSearchHasItsSection: a request that offers nothing but the API's
// own search is answered by `model search`, each in a separate conversation.
func TestSearchHasItsSection(t *testing.T) {
	g := NewWithT(t)
	m, c := start(t, scenario(t, "send m1: Hi.", `[{"on":"m1"},{"text":["Hello."]}]`,
		"-- model search --\n"+
			`[{"fail":{"status":529}}]`+"\n"+`[{"retry":true},{"search":"Bern","found":[{"title":"B","url":"https://b.example"}]},{"text":["Sunny."]}]`+"\n"+
			`[{"search":"Rome","fails":"unavailable"}]`))
	ask := func(query string, stream string) (int, string) {
		status, body, err := post(t, c, m.URL()+"/v1/messages",
			`{"stream":`+stream+`,"messages":[{"role":"user","content":"Search for `+query+`"}],"tools":[{"type":"web_search_20250305","name":"web_search"}]}`)
		g.Expect(err).NotTo(HaveOccurred())
		return status, body
	}
	status, _ := ask("Bern", "true")
	g.Expect(status).To(Equal(529))
	_, found := ask("Bern", "true")
	g.Expect(found).To(And(ContainSubstring(`"type":"server_tool_use","id":"srvtoolu_1"`), ContainSubstring(`{\"query\":\"Bern\"}`),
		ContainSubstring(`"tool_use_id":"srvtoolu_1","content":[{"type":"web_search_result","title":"B","url":"https://b.example"`), ContainSubstring("Sunny.")))
	_, failed := ask("Rome", "false")
	g.Expect(failed).To(And(ContainSubstring(`"input":{"query":"Rome"}`), ContainSubstring(`"content":{"type":"web_search_tool_result_error","error_code":"unavailable"}`)))
	_, main, err := post(t, c, m.URL()+"/v1/messages", users("Hi."))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(main).To(ContainSubstring("Hello."))
	var brings [][]string
	var agents []string
	for _, q := range m.Witness() {
		brings, agents = append(brings, q.New), append(agents, q.Agent)
	}
	g.Expect(agents).To(Equal([]string{"search", "search", "search", ""}))
	g.Expect(brings).To(Equal([][]string{{"query"}, {"retry"}, {"query"}, {"m1"}}))
	g.Expect(m.Err()).NotTo(HaveOccurred())
	g.Expect(m.Unused()).To(BeEmpty())
}

// TestCodexRejectsSearchParts: there the search is a tool of the model.
func TestCodexRejectsSearchParts(t *testing.T) {
	g := NewWithT(t)
	m, c := start(t, scenario(t, "send m1: Hi.", `[{"search":"Bern","found":[]}]`))
	status, _, err := post(t, c, m.URL()+"/v1/responses", `{"stream":true,"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"Hi."}]}]}`)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(status).To(Equal(400))
	g.Expect(m.Err()).To(MatchError(ContainSubstring("test.txtar:7: search: ")))
}
