package codex

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/codexcli"
)

func TestUnwrap(t *testing.T) {
	for in, want := range map[string]string{
		`/bin/bash -lc 'ls -la && cat a.txt'`:        `ls -la && cat a.txt`,
		`/bin/bash -lc "echo 'a b' && echo \"\$x\""`: `echo 'a b' && echo "$x"`,
		`bash -lc ls`:                    `ls`,
		`/bin/zsh -lc 'it'"'"'s'`:        `it's`,
		`/bin/bash -lc 'a' b`:            `/bin/bash -lc 'a' b`, // $0: not a plain wrapper
		`/bin/bash -lc 'open`:            `/bin/bash -lc 'open`,
		`python3 -c 'print(1)'`:          `python3 -c 'print(1)'`,
		`ls`:                             `ls`,
		`/bin/bash script.sh 'x'`:        `/bin/bash script.sh 'x'`,
		"/bin/bash -lc 'cat <<E\nhi\nE'": "cat <<E\nhi\nE",
	} {
		NewWithT(t).Expect(codexcli.Unwrap(in)).To(Equal(want))
	}
}

func TestReads(t *testing.T) {
	g := NewWithT(t)
	g.Expect(readsOf(nil).is).To(BeFalse())
	g.Expect(readsOf([]commandAction{{Type: "read", Path: "/a"}, {Type: "read", Path: "/b"}})).To(Equal(reads{is: true, file: "/a"}))
	g.Expect(readsOf([]commandAction{{Type: "search", Query: "x", Path: "d"}})).To(Equal(reads{is: true, pattern: "x", searchPath: "d"}))
	g.Expect(readsOf([]commandAction{{Type: "read", Path: "/a"}, {Type: "unknown"}})).To(Equal(reads{}))
}

func TestErrorCodes(t *testing.T) {
	for info, want := range map[string]event.ErrorCode{
		`"usageLimitExceeded"`:                                   event.ErrorBilling,
		`"contextWindowExceeded"`:                                event.ErrorContext,
		`{"httpConnectionFailed":{"httpStatusCode":401}}`:        event.ErrorAuth,
		`{"responseStreamDisconnected":{"httpStatusCode":429}}`:  event.ErrorRateLimit,
		`{"responseStreamDisconnected":{"httpStatusCode":null}}`: event.ErrorNetwork,
		`{"somethingNew":{"httpStatusCode":401}}`:                event.ErrorUnknown,
		`"somethingNew"`:                                         event.ErrorUnknown,
		`null`:                                                   event.ErrorUnknown,
	} {
		NewWithT(t).Expect(codeOf(jsontext.Value(info), "m")).To(Equal(want), info)
	}
	NewWithT(t).Expect(codeOf(jsontext.Value(`"other"`), "stream disconnected before completion: x")).To(Equal(event.ErrorNetwork))
}

// A field of an unexpected kind affects only that field.
func TestFieldsOfUnexpectedKinds(t *testing.T) {
	g := NewWithT(t)
	var m message
	g.Expect(m.decodeLine([]byte(`{"method":"x","params":{"threadId":7,"turnId":{},"delta":null,"item":[1],"turn":"t","tokenUsage":3,"availableDecisions":{},"summaryIndex":"s"}}`))).To(Succeed())
	g.Expect(m.Params.ThreadID.val()).To(Equal("7"))
	g.Expect(m.Params.TurnID.val()).To(BeEmpty())
	g.Expect(m.Params.Item.V).To(BeNil())
}

// Values that a reused message keeps are never mistaken for values of the line.
func TestMessageReset(t *testing.T) {
	g := NewWithT(t)
	var m message
	g.Expect(m.decodeLine([]byte(`{"id":1,"method":"a\\n","params":{"threadId":"\\n","delta":"x","item":{"id":"i"}},"result":{}}`))).To(Succeed())
	g.Expect(m.decodeLine([]byte(`{"method":"b","params":{"threadId":"\n"}}`))).To(Succeed())
	g.Expect(m.Params.ThreadID.val()).To(Equal("\n"))
	g.Expect(m.Params.Delta.val()).To(BeEmpty())
	g.Expect(m.ID).To(BeEmpty())
	g.Expect(m.Params.Item.V).To(BeNil())
	g.Expect(m.Result.V).To(BeNil())
	g.Expect(m.decodeLine([]byte("{\"method\":\"b\",\"params\":{\"delta\":\"\\ud83d\",\"itemId\":\"a\xffb\"}}"))).To(Succeed())
	g.Expect(m.Params.Delta.val()).To(Equal("\uFFFD"))
	g.Expect(m.Params.ItemID.val()).To(Equal("a\uFFFDb"))
}

func TestVersionOf(t *testing.T) {
	NewWithT(t).Expect(versionOf("lab/0.169.0 (Debian 12.0.0; x86_64) dumb (lab; 0.1)")).To(Equal("0.169.0"))
	NewWithT(t).Expect(versionOf("odd")).To(BeEmpty())
}
