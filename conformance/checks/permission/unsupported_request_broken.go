package permission

import (
	"bytes"
	"io"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var refusesInSilence = broken.Adapter{
	Name: "refuses-in-silence", Sentence: "rejects a request that it does not know without a notice",
	Proves: "permission.unsupported-request",
	Mutation: broken.Each(func(e event.Event, out func(event.Event)) {
		if d, ok := e.Data.(event.Notice); !ok || !bytes.Contains(d.Raw, []byte("weather_ask")) && !bytes.Contains(d.Raw, []byte("requestOutlook")) {
			out(e)
		}
	}),
}

var answersWhatItKnows = broken.Adapter{
	Name: "answers-what-it-knows", Sentence: "leaves a request that it does not know without a reply",
	Proves: "permission.unsupported-request",
	Mutation: broken.Mutation{Write: func(line []byte, w io.Writer) error {
		if bytes.Contains(line, []byte(`"weather-`)) {
			return nil
		}
		_, err := w.Write(line)
		return err
	}},
}
