package chat_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/chat"
	"github.com/turnspec/turnspec/adapters/event"
)

// outcome is what a user sees of a reply.
type outcome struct {
	text, thinking string
	calls          []string // NAME INPUT
	reason         string   // of done
	code           event.ErrorCode
	notices        int // about what the adapter does not know
	tokens         int64
}

// outcomeOf reads events up to the end of the first reply.
func outcomeOf(events []event.Event) (o outcome) {
	ids := map[string]bool{}
	for _, e := range events {
		switch d := e.Data.(type) {
		case event.Delta:
			o.text += d.Text
		case event.Thinking:
			o.thinking += d.Text
		case event.ToolStart:
			if ids[d.ToolUseID] || d.ToolUseID == "" {
				o.calls = append(o.calls, "id "+d.ToolUseID+" again")
			}
			ids[d.ToolUseID] = true
			o.calls = append(o.calls, d.Tool+" "+string(d.Input))
		case event.Notice:
			if d.Code == event.NoticeUnknownMessage || d.Code == event.NoticeGarbage {
				o.notices++
			}
		case event.Usage:
			o.tokens = d.Tokens.Input
		case event.Done:
			o.reason = d.Reason
		case event.Error:
			if d.Code != event.ErrorCrash { // the results of calls are not in a transcript
				o.code = d.Code
			}
		}
	}
	return o
}

// delta is a chunk with a delta.
func delta(members string) string {
	return `{"id":"c1","object":"chat.completion.chunk","choices":[{"index":0,"delta":{` + members + `},"finish_reason":null}]}`
}

func calling(pieces ...string) string {
	return delta(`"tool_calls":[` + strings.Join(pieces, ",") + `]`)
}

const (
	doneToken = "[DONE]"
	stopped   = `{"id":"c1","object":"chat.completion.chunk","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`
	called    = `{"id":"c1","object":"chat.completion.chunk","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`
	two       = `look {"q":"east"}`
)

var eastWest = []string{`look {"q":"east"}`, `look {"q":"west"}`}

// dialects are replies as servers send them, by what is special about them. A reply that is
// one chunk with a separate message is sent as a body too.
var dialects = map[string]struct {
	events []string
	want   outcome
}{
	"content as parts":               {[]string{delta(`"content":[{"type":"thinking","thinking":[{"type":"text","text":"Ponder. "}]}]`), delta(`"content":[{"type":"text","text":"Seven "},{"type":"text","text":"seas."}]`), stopped, doneToken}, outcome{text: "Seven seas.", thinking: "Ponder. "}},
	"thoughts between texts":         {[]string{delta(`"content":[{"type":"text","text":"One. "},{"type":"thinking","thinking":"Hm. "},{"type":"text","text":"Two."}]`), stopped}, outcome{text: "One. Two.", thinking: "Hm. "}},
	"content is one part":            {[]string{delta(`"content":{"type":"text","text":"Alone."}`), stopped}, outcome{text: "Alone."}},
	"content is a list of strings":   {[]string{delta(`"content":["Plain ","words."]`), stopped}, outcome{text: "Plain words."}},
	"text as an object":              {[]string{delta(`"content":[{"type":"text","text":{"value":"Valued."}}]`), stopped}, outcome{text: "Valued."}},
	"a part of an unknown type":      {[]string{delta(`"content":[{"type":"text","text":"Known."},{"type":"hologram","beam":"x"}]`), stopped}, outcome{text: "Known.", notices: 1}},
	"only parts of an unknown type":  {[]string{delta(`"content":[{"type":"hologram"}]`), delta(`"content":[{"type":"reference","reference_ids":[1]}]`), stopped, doneToken}, outcome{notices: 2}},
	"a number as content":            {[]string{delta(`"content":7`), delta(`"content":"Seven"`), stopped}, outcome{text: "Seven", notices: 1}},
	"content null":                   {[]string{delta(`"role":"assistant","content":null`), delta(`"content":"Here."`), stopped}, outcome{text: "Here."}},
	"role alone, and empty":          {[]string{delta(`"role":"assistant"`), delta(`"role":"","content":"Here."`), stopped}, outcome{text: "Here."}},
	"a refusal":                      {[]string{delta(`"content":null,"refusal":"I would "`), delta(`"refusal":"rather not."`), stopped}, outcome{text: "I would rather not."}},
	"a refusal as a part":            {[]string{delta(`"content":[{"type":"refusal","refusal":"No."}]`), stopped}, outcome{text: "No."}},
	"reasoning_content":              {[]string{delta(`"reasoning_content":"Think. "`), delta(`"content":"Say."`), stopped}, outcome{text: "Say.", thinking: "Think. "}},
	"reasoning":                      {[]string{delta(`"reasoning":"Think. "`), delta(`"content":"Say."`), stopped}, outcome{text: "Say.", thinking: "Think. "}},
	"reasoning as parts":             {[]string{delta(`"reasoning":[{"type":"text","text":"Think. "}]`), delta(`"content":"Say."`), stopped}, outcome{text: "Say.", thinking: "Think. "}},
	"reasoning twice":                {[]string{delta(`"reasoning":"Think. ","reasoning_content":"Think. "`), delta(`"content":"Say."`), stopped}, outcome{text: "Say.", thinking: "Think. "}},
	"reasoning_details with text":    {[]string{delta(`"reasoning":"Think. ","reasoning_details":[{"type":"reasoning.text","text":"Think. ","index":0}]`), delta(`"content":"Say."`), stopped}, outcome{text: "Say.", thinking: "Think. "}},
	"reasoning_details alone":        {[]string{delta(`"reasoning":null,"reasoning_details":[{"type":"reasoning.summary","summary":"Sum. "},{"type":"reasoning.text","text":"Think. "},{"type":"reasoning.encrypted","data":"AAAA"}]`), delta(`"content":"Say."`), stopped}, outcome{text: "Say.", thinking: "Sum. Think. "}},
	"audio with a transcript":        {[]string{delta(`"content":null,"audio":{"id":"a","transcript":"Spoken "}`), delta(`"audio":{"transcript":"words."}`), stopped}, outcome{text: "Spoken words."}},
	"pictures":                       {[]string{delta(`"content":"","images":[{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]`), stopped, doneToken}, outcome{notices: 1}},
	"only a member that is unknown":  {[]string{delta(`"role":"assistant","smell":"of roses"`), delta(`"content":"Say."`), stopped}, outcome{text: "Say.", notices: 1}},
	"a member without a value":       {[]string{delta(`"smell":null,"taste":[],"sound":""`), delta(`"content":"Say.","smell":"of tea"`), stopped}, outcome{text: "Say."}},
	"text of the older API":          {[]string{`{"id":"c1","object":"text_completion","choices":[{"index":0,"text":"Older ","finish_reason":null}]}`, `{"id":"c1","choices":[{"index":0,"text":"words.","finish_reason":"stop"}]}`}, outcome{text: "Older words."}},
	"text in the last chunk":         {[]string{delta(`"content":"Al"`), `{"choices":[{"delta":{"content":"most."},"finish_reason":"stop"}]}`}, outcome{text: "Almost."}},
	"delta null or missing":          {[]string{`{"choices":[{"index":0,"delta":null,"finish_reason":null}]}`, delta(`"content":"Say."`), `{"choices":[{"index":0,"finish_reason":"stop"}]}`}, outcome{text: "Say."}},
	"choices empty at the beginning": {[]string{`{"choices":[],"prompt_filter_results":[]}`, delta(`"content":"Say."`), stopped}, outcome{text: "Say."}},
	"two choices":                    {[]string{`{"choices":[{"index":0,"delta":{"content":"First."}},{"index":1,"delta":{"content":"Second."}}]}`, `{"choices":[{"index":1,"delta":{"content":"More."}}]}`, stopped}, outcome{text: "First.", notices: 1}},

	"a message in place of the delta":      {[]string{`{"id":"c1","object":"chat.completion.chunk","choices":[{"index":0,"message":{"role":"assistant","content":"At once."},"finish_reason":"stop"}]}`}, outcome{text: "At once."}},
	"a message with parts and reasoning":   {[]string{`{"choices":[{"message":{"reasoning_content":"Hm.","content":[{"type":"text","text":"At once."}]},"finish_reason":"stop"}]}`}, outcome{text: "At once.", thinking: "Hm."}},
	"a message with calls":                 {[]string{`{"choices":[{"message":{"content":null,"tool_calls":[{"function":{"name":"look","arguments":{"q":"east"}}},{"function":{"name":"look","arguments":"{\"q\":\"west\"}"}}]},"finish_reason":"tool_calls"}]}`}, outcome{calls: eastWest}},
	"a body":                               {[]string{`{"id":"c9","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"A body.","tool_calls":null},"finish_reason":"stop"}],"usage":{"prompt_tokens":4,"completion_tokens":2,"total_tokens":6}}`}, outcome{text: "A body.", tokens: 4}},
	"a body without a reason":              {[]string{`{"id":"c9","object":"chat.completion","choices":[{"index":0,"message":{"content":"A body."}}]}`}, outcome{text: "A body."}},
	"messages that are pieces":             {[]string{`{"choices":[{"message":{"content":"Piece "},"finish_reason":null}]}`, `{"choices":[{"message":{"content":"by piece."},"finish_reason":"stop"}]}`}, outcome{text: "Piece by piece."}},
	"messages that repeat what has come":   {[]string{`{"choices":[{"message":{"content":"Piece "},"finish_reason":null}]}`, `{"choices":[{"message":{"content":"Piece by piece."},"finish_reason":"stop"}]}`}, outcome{text: "Piece by piece."}},
	"equal pieces":                         {[]string{`{"choices":[{"message":{"role":"assistant","content":""}}]}`, `{"choices":[{"message":{"content":"Knock. "}}]}`, `{"choices":[{"message":{"content":"Knock. "}}]}`, `{"choices":[{"message":{"content":"Knock. Knock. "},"finish_reason":null}]}`, `{"choices":[{"message":{"content":""},"finish_reason":"stop"}]}`}, outcome{text: "Knock. Knock. Knock. Knock. "}},
	"pieces with reasoning":                {[]string{`{"choices":[{"message":{"reasoning_content":"Hm. "}}]}`, `{"choices":[{"message":{"content":"Hm. "}}]}`, `{"choices":[{"message":{"content":"Yes."},"finish_reason":"stop"}]}`}, outcome{text: "Hm. Yes.", thinking: "Hm. "}},
	"all so far, with reasoning":           {[]string{`{"choices":[{"message":{"reasoning_content":"Hm. "}}]}`, `{"choices":[{"message":{"reasoning_content":"Hm. ","content":"Ye"}}]}`, `{"choices":[{"message":{"reasoning_content":"Hm. ","content":"Yes."}}]}`, `{"choices":[{"message":{"reasoning_content":"Hm. ","content":"Yes."},"finish_reason":"stop"}]}`}, outcome{text: "Yes.", thinking: "Hm. "}},
	"pieces, and all at the end":           {[]string{`{"choices":[{"message":{"content":"Piece "}}]}`, `{"choices":[{"message":{"content":"by piece."}}]}`, `{"choices":[{"message":{"content":"Piece by piece."},"finish_reason":"stop"}]}`}, outcome{text: "Piece by piece."}},
	"a role and an unknown member":         {[]string{delta(`"role":"assistant","content":"","novel":"words"`), delta(`"novel":"words"`), delta(`"role":"assistant","novel":"words"`), delta(`"content":"Say."`), stopped}, outcome{text: "Say.", notices: 2}},
	"the whole message after its deltas":   {[]string{delta(`"reasoning_content":"Hm. "`), delta(`"content":"Both "`), delta(`"content":"ways."`), stopped, `{"id":"c1","object":"chat.completion","choices":[{"index":0,"delta":null,"message":{"content":"Both ways.","reasoning_content":"Hm. "},"finish_reason":"stop"}],"usage":{"prompt_tokens":5,"total_tokens":6}}`, doneToken}, outcome{text: "Both ways.", thinking: "Hm. ", tokens: 5}},
	"a whole message with one word more":   {[]string{delta(`"content":"Both"`), `{"id":"c1","object":"chat.completion","choices":[{"message":{"content":"Both ways."},"finish_reason":"stop"}]}`}, outcome{text: "Both ways."}},
	"a whole message that differs":         {[]string{delta(`"content":"Both"`), `{"id":"c1","object":"chat.completion","choices":[{"message":{"content":"None."},"finish_reason":"stop"}]}`}, outcome{text: "Both", notices: 1}},
	"the whole calls after their pieces":   {[]string{calling(`{"index":0,"id":"a","function":{"name":"look","arguments":"{\"q\":"}}`), calling(`{"index":0,"function":{"arguments":"\"east\"}"}}`), `{"id":"c1","object":"chat.completion","choices":[{"message":{"tool_calls":[{"id":"a","function":{"name":"look","arguments":"{\"q\":\"east\"}"}}]},"finish_reason":"tool_calls"}]}`}, outcome{calls: []string{two}}},
	"the whole call again in the last one": {[]string{calling(`{"index":0,"id":"a","function":{"name":"look","arguments":"{\"q\":\"east\"}"}}`), calling(`{"index":0,"id":"a","function":{"name":"look","arguments":"{\"q\":\"east\"}"}}`), called}, outcome{calls: []string{two}}},

	"one index, two ids":                    {[]string{calling(`{"index":0,"id":"a","function":{"name":"look","arguments":"{\"q\":\"east\"}"}}`), calling(`{"index":0,"id":"b","function":{"name":"look","arguments":"{\"q\":\"west\"}"}}`), called}, outcome{calls: eastWest}},
	"one index, two ids, in one chunk":      {[]string{calling(`{"index":0,"id":"a","function":{"name":"look","arguments":"{\"q\":\"east\"}"}}`, `{"index":0,"id":"b","function":{"name":"look","arguments":"{\"q\":\"west\"}"}}`), called}, outcome{calls: eastWest}},
	"one index, two ids, alternating":       {[]string{calling(`{"index":0,"id":"a","function":{"name":"look","arguments":"{\"q\":"}}`), calling(`{"index":0,"id":"b","function":{"name":"look","arguments":"{\"q\":"}}`), calling(`{"index":0,"id":"a","function":{"arguments":"\"east\"}"}}`), calling(`{"index":0,"id":"b","function":{"arguments":"\"west\"}"}}`), called}, outcome{calls: eastWest}},
	"one index, two ids, one after another": {[]string{calling(`{"index":0,"id":"a","function":{"name":"look","arguments":""}}`), calling(`{"index":0,"function":{"arguments":"{\"q\":\"east\"}"}}`), calling(`{"index":0,"id":"b","function":{"name":"look","arguments":""}}`), calling(`{"index":0,"function":{"arguments":"{\"q\":\"west\"}"}}`), called}, outcome{calls: eastWest}},
	"one index, no ids":                     {[]string{calling(`{"index":0,"function":{"name":"look","arguments":"{\"q\":\"east\"}"}}`), calling(`{"index":0,"function":{"name":"look","arguments":"{\"q\":\"west\"}"}}`), called}, outcome{calls: eastWest}},
	"one index, one id, two calls":          {[]string{calling(`{"index":0,"id":"x","function":{"name":"look","arguments":"{\"q\":\"east\"}"}}`), calling(`{"index":0,"id":"x","function":{"name":"look","arguments":"{\"q\":\"west\"}"}}`), called}, outcome{calls: eastWest}},
	"an id with each piece":                 {[]string{calling(`{"index":0,"id":"a","function":{"name":"look","arguments":"{\"q\":"}}`), calling(`{"index":0,"id":"a","function":{"arguments":"\"ea"}}`), calling(`{"index":0,"id":"a","function":{"arguments":"st\"}"}}`), called}, outcome{calls: []string{two}}},
	"id and name with each piece":           {[]string{calling(`{"index":0,"id":"a","function":{"name":"look","arguments":"{\"q\":"}}`), calling(`{"index":0,"id":"a","function":{"name":"look","arguments":"\"east\"}"}}`), called}, outcome{calls: []string{two}}},
	"another id with each piece":            {[]string{calling(`{"index":0,"id":"a","function":{"name":"look","arguments":"{\"q\":"}}`), calling(`{"index":0,"id":"b","function":{"arguments":"\"east\"}"}}`), calling(`{"index":0,"id":"c","function":{"arguments":""}}`), called}, outcome{calls: []string{two}}},
	"later id and name empty":               {[]string{calling(`{"index":0,"id":"a","function":{"name":"look","arguments":"{\"q\":"}}`), calling(`{"index":0,"id":"","function":{"name":"","arguments":"\"east\"}"}}`), called}, outcome{calls: []string{two}}},
	"later id and name null":                {[]string{calling(`{"index":0,"id":"a","function":{"name":"look","arguments":null}}`), calling(`{"index":0,"id":null,"function":{"name":null,"arguments":"{\"q\":\"east\"}"}}`), called}, outcome{calls: []string{two}}},
	"the name comes later":                  {[]string{calling(`{"index":0,"id":"a","function":{"name":""}}`), calling(`{"index":0,"function":{"name":"look","arguments":"{\"q\":\"east\"}"}}`), called}, outcome{calls: []string{two}}},
	"the id comes later":                    {[]string{calling(`{"index":0,"function":{"name":"look"}}`), calling(`{"index":0,"id":"a","function":{"arguments":"{\"q\":\"east\"}"}}`), called}, outcome{calls: []string{two}}},
	"no index, whole calls":                 {[]string{calling(`{"id":"a","function":{"name":"look","arguments":"{\"q\":\"east\"}"}}`), calling(`{"id":"b","function":{"name":"look","arguments":"{\"q\":\"west\"}"}}`), called}, outcome{calls: eastWest}},
	"no index and no id":                    {[]string{calling(`{"function":{"name":"look","arguments":{"q":"east"}}}`, `{"function":{"name":"look","arguments":{"q":"west"}}}`), called}, outcome{calls: eastWest}},
	"no index, in pieces":                   {[]string{calling(`{"id":"a","function":{"name":"look","arguments":"{\"q\":"}}`), calling(`{"function":{"arguments":"\"east\"}"}}`), calling(`{"id":"b","function":{"name":"look","arguments":"{\"q\":"}}`), calling(`{"function":{"arguments":"\"west\"}"}}`), called}, outcome{calls: eastWest}},
	"no index, an id with each piece":       {[]string{calling(`{"id":"a","function":{"name":"look","arguments":"{\"q\":"}}`), calling(`{"id":"b","function":{"name":"look","arguments":"{\"q\":"}}`), calling(`{"id":"a","function":{"arguments":"\"east\"}"}}`), calling(`{"id":"b","function":{"arguments":"\"west\"}"}}`), called}, outcome{calls: eastWest}},
	"an index and later none":               {[]string{calling(`{"index":0,"id":"a","function":{"name":"look","arguments":"{\"q\":"}}`), calling(`{"id":"a","function":{"arguments":"\"east\"}"}}`), called}, outcome{calls: []string{two}}},
	"an index that is a string":             {[]string{calling(`{"index":"0","id":"a","function":{"name":"look","arguments":"{\"q\":"}}`, `{"index":"1","id":"b","function":{"name":"look","arguments":"{\"q\":"}}`), calling(`{"index":"0","function":{"arguments":"\"east\"}"}}`, `{"index":"1","function":{"arguments":"\"west\"}"}}`), called}, outcome{calls: eastWest}},
	"an id that is a number":                {[]string{calling(`{"index":0,"id":1,"function":{"name":"look","arguments":"{\"q\":\"east\"}"}}`, `{"index":0,"id":2,"function":{"name":"look","arguments":"{\"q\":\"west\"}"}}`), called}, outcome{calls: eastWest}},
	"arguments as an object":                {[]string{calling(`{"index":0,"id":"a","function":{"name":"look","arguments":{"q":"east"}}}`), called}, outcome{calls: []string{two}}},
	"an object without members before":      {[]string{calling(`{"index":0,"id":"a","function":{"name":"look","arguments":{}}}`), calling(`{"index":0,"function":{"arguments":"{\"q\":\"east\"}"}}`), called}, outcome{calls: []string{two}}},
	"tool_calls as an object":               {[]string{delta(`"tool_calls":{"id":"a","function":{"name":"look","arguments":"{\"q\":\"east\"}"}}`), called}, outcome{calls: []string{two}}},
	"a call without a function":             {[]string{calling(`{"index":0,"id":"a","name":"look","arguments":{"q":"east"}}`), called}, outcome{calls: []string{two}}},
	"tool_calls null or empty":              {[]string{delta(`"content":"Say.","tool_calls":null`), delta(`"tool_calls":[]`), stopped}, outcome{text: "Say."}},
	"a call of an unknown form":             {[]string{delta(`"content":"Say.","tool_calls":["look"]`), stopped}, outcome{text: "Say.", notices: 1}},
	"function_call":                         {[]string{delta(`"function_call":{"name":"look","arguments":""}`), delta(`"function_call":{"arguments":"{\"q\":\"east\"}"}`), `{"choices":[{"delta":{},"finish_reason":"function_call"}]}`}, outcome{calls: []string{two}}},
	"finish stop with a call":               {[]string{calling(`{"index":0,"id":"a","function":{"name":"look","arguments":"{\"q\":\"east\"}"}}`), stopped}, outcome{calls: []string{two}}},

	"usage in the last chunk":     {[]string{delta(`"content":"Say."`), stopped, `{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":1,"total_tokens":10,"prompt_tokens_details":null}}`, doneToken}, outcome{text: "Say.", tokens: 9}},
	"usage in each chunk":         {[]string{`{"choices":[{"delta":{"content":"Say "}}],"usage":{"prompt_tokens":9}}`, `{"choices":[{"delta":{"content":"it."},"finish_reason":"stop"}],"usage":{"prompt_tokens":9}}`}, outcome{text: "Say it.", tokens: 9}},
	"usage without tokens later":  {[]string{`{"choices":[{"delta":{"content":"Say."}}],"usage":{"prompt_tokens":9}}`, `{"choices":[{"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":0,"completion_tokens":0,"total_tokens":0}}`}, outcome{text: "Say.", tokens: 9}},
	"usage of the choice":         {[]string{delta(`"content":"Say."`), `{"choices":[{"delta":{},"finish_reason":"stop","usage":{"prompt_tokens":9}}]}`}, outcome{text: "Say.", tokens: 9}},
	"x_groq.usage":                {[]string{delta(`"content":"Say."`), `{"choices":[{"delta":{},"finish_reason":"stop"}],"x_groq":{"id":"r","usage":{"prompt_tokens":9.0}}}`}, outcome{text: "Say.", tokens: 9}},
	"usage of another form":       {[]string{delta(`"content":"Say."`), `{"choices":[{"delta":{},"finish_reason":"stop"}],"usage":[]}`}, outcome{text: "Say."}},
	"the reason late":             {[]string{delta(`"content":"Say."`), `{"choices":[],"usage":{"prompt_tokens":9}}`, stopped, doneToken}, outcome{text: "Say.", tokens: 9}},
	"no reason but [DONE]":        {[]string{delta(`"content":"Say."`), doneToken}, outcome{text: "Say."}},
	"the reason empty":            {[]string{`{"choices":[{"delta":{"content":"Say."},"finish_reason":""}]}`, doneToken}, outcome{text: "Say."}},
	"no reason but [DONE], calls": {[]string{calling(`{"id":"a","function":{"name":"look","arguments":"{\"q\":\"east\"}"}}`), doneToken}, outcome{calls: []string{two}}},
	"eos":                         {[]string{delta(`"content":"Say."`), `{"choices":[{"delta":{},"finish_reason":"eos"}]}`}, outcome{text: "Say."}},
	"the length":                  {[]string{delta(`"content":"Say."`), `{"choices":[{"delta":{},"finish_reason":"length"}]}`}, outcome{text: "Say.", reason: "length"}},

	"no reason and no [DONE]":    {[]string{delta(`"content":"Say."`)}, outcome{text: "Say.", code: event.ErrorNetwork}},
	"an error in the stream":     {[]string{delta(`"content":"Say."`), `{"error":{"message":"too busy","type":"overloaded_error"}}`}, outcome{text: "Say.", code: event.ErrorOverloaded}},
	"an error that is a string":  {[]string{delta(`"content":"Say."`), `{"error":"too busy"}`}, outcome{text: "Say.", code: event.ErrorUnknown}},
	"an error with a status":     {[]string{`{"error":{"message":"slow down","code":"429"}}`}, outcome{code: event.ErrorRateLimit}},
	"an error of the choice":     {[]string{delta(`"content":"Say."`), `{"choices":[{"delta":{"content":""},"finish_reason":"error","error":{"code":502,"message":"gone"}}]}`}, outcome{text: "Say.", code: event.ErrorModel}},
	"finish error":               {[]string{delta(`"content":"Say."`), `{"choices":[{"delta":{},"finish_reason":"error"}]}`}, outcome{text: "Say.", code: event.ErrorModel}},
	"an object error":            {[]string{delta(`"content":"Say."`), `{"object":"error","message":"too long","type":"invalid_request_error","code":"context_length_exceeded"}`}, outcome{text: "Say.", code: event.ErrorContext}},
	"error null beside a choice": {[]string{`{"error":null,"choices":[{"delta":{"content":"Say."}}]}`, `{"error":{},"choices":[{"delta":{},"finish_reason":"stop"}]}`}, outcome{text: "Say."}},
}

// stream returns events as server-sent events.
func stream(events []string) string {
	var b strings.Builder
	for _, e := range events {
		b.WriteString("data: " + e + "\n\n")
	}
	return b.String()
}

func TestDialectsInTranscripts(t *testing.T) {
	for name, c := range dialects {
		t.Run(name, func(t *testing.T) {
			lines := []string{`{"id":1,"status":200,"stream":true}`}
			for _, e := range c.events {
				if e == doneToken {
					lines = append(lines, `{"id":1,"text":"[DONE]"}`)
				} else {
					lines = append(lines, `{"id":1,"data":`+e+`}`)
				}
			}
			lines = append(lines, `{"id":1,"end":true}`)
			forms := map[string][]string{"lines of HTTP": lines, "without the first line": lines[1:], "without the last line": lines[:len(lines)-1], "chunks alone": c.events}
			if !slices.Contains(c.events, doneToken) {
				forms["lines without an id"] = strings.Split(strings.ReplaceAll(strings.Join(lines[1:len(lines)-1], "\n"), `{"id":1,`, "{"), "\n")
			}
			if c.want.code == event.ErrorNetwork {
				delete(forms, "without the last line") // the transcript is cut, and not the stream
			}
			if len(c.events) == 1 && strings.Contains(c.events[0], `"message":{`) {
				forms["a body"] = []string{`{"id":1,"status":200,"body":` + c.events[0] + `}`}
				forms["a body without a status"] = []string{`{"id":1,"body":` + c.events[0] + `}`}
				forms["a body without an id"] = []string{`{"body":` + c.events[0] + `}`}
			}
			for form, lines := range forms {
				g := NewWithT(t)
				g.Expect(outcomeOf(normalize(lines...))).To(Equal(c.want), form)
			}
		})
	}
}

func normalize(lines ...string) (out []event.Event) {
	n := chat.New().Transcribe("s1", func(e event.Event) { out = append(out, e) })
	for _, l := range lines {
		n.Line(time.Unix(0, 0), []byte(l))
	}
	n.End()
	return out
}

// Some servers send a stream as plain text.
func TestStreamWithAnotherContentType(t *testing.T) {
	g := NewWithT(t)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		fmt.Fprint(w, ": wait\n\n"+stream([]string{delta(`"content":"Plain."`), stopped, doneToken}))
	}))
	t.Cleanup(srv.Close)
	s := open(t, &model{Server: srv}, adapters.Options{})
	g.Expect(s.Send(t.Context(), adapters.Message{ID: "m1", Text: "Speak."})).To(Succeed())
	events := readUntil(t, s, event.TypeDone)
	g.Expect(outcomeOf(events)).To(Equal(outcome{text: "Plain."}))
	g.Expect(events[0].SessionID).NotTo(BeEmpty(), "the adapter makes an id")
}

// A client of a live server gets of each dialect what a transcript gives, with the dialect as
// a stream and, if it can be one, as a body.
func TestDialectsOverHTTP(t *testing.T) {
	for name, c := range dialects {
		forms := []string{stream(c.events), strings.ReplaceAll(": wait\n\n"+stream(c.events), "\n", "\r\n")}
		if len(c.events) == 1 && strings.Contains(c.events[0], `"message":{`) {
			forms = append(forms, c.events[0])
		}
		for i, body := range forms {
			t.Run(fmt.Sprintf("%s/%d", name, i), func(t *testing.T) {
				t.Parallel()
				g := NewWithT(t)
				m := newModel(t, body)
				want := c.want
				if want.code != "" { // each attempt fails
					m.replies = []string{body, body, body}
					want.text = strings.Repeat(want.text, 3)
					if want.code == event.ErrorContext {
						want.text = c.want.text // another attempt is of no use
					}
				}
				if len(want.calls) > 0 {
					want.text += "Done."
				}
				answer := adapters.ToolAnswer{Content: []adapters.ToolContent{{Text: "seen"}}}
				s := open(t, m, adapters.Options{Tools: []adapters.Tool{{Name: "look", Call: func(context.Context, adapters.ToolCall) (adapters.ToolAnswer, error) { return answer, nil }}}})
				g.Expect(s.Send(t.Context(), adapters.Message{ID: "m1", Text: "Look."})).To(Succeed())
				ends := event.TypeDone
				if want.code != "" {
					ends = event.TypeError
				}
				g.Expect(outcomeOf(readUntil(t, s, ends))).To(Equal(want))
				m.mu.Lock()
				defer m.mu.Unlock()
				for i, b := range m.bodies {
					g.Expect(historyError(b)).To(Succeed(), "request %d: %s", i, b)
				}
			})
		}
	}
}
