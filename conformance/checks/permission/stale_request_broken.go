package permission

import (
	"bytes"
	"io"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
	"github.com/turnspec/turnspec/fakes/fault"
)

var allowsStaleRequests = broken.Adapter{
	Name: "allows-stale-requests", Sentence: "allows what is asked about a turn that has ended",
	Proves: "permission.stale-request",
	Mutation: broken.Mutation{Write: func(line []byte, w io.Writer) error {
		if bytes.Contains(line, []byte(`"`+fault.StaleRequestID)) {
			line = bytes.ReplaceAll(line, []byte(`"behavior":"deny"`), []byte(`"behavior":"allow"`))
			line = bytes.ReplaceAll(line, []byte(`"decision":"decline"`), []byte(`"decision":"accept"`))
			line = bytes.ReplaceAll(line, []byte(`"action":"decline"`), []byte(`"action":"accept"`))
		}
		_, err := w.Write(line)
		return err
	}},
}

var callsLateRequestsRefused = broken.Adapter{
	Name: "calls-late-requests-refused", Sentence: "reports a question about a turn that has ended as one that this client does not support",
	Proves: "permission.stale-request",
	Mutation: broken.Change(func(d *event.Notice) {
		if d.Code == event.NoticeLate {
			d.Code = event.NoticeRefused
		}
	}),
}
