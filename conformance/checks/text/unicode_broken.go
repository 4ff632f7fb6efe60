package text

import (
	"bytes"

	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var breaksCharacters = broken.Adapter{
	Name: "breaks-characters", Sentence: "decodes each read by itself",
	Fails: []string{"text.unicode", "wire.split"},
	Mutation: broken.Mutation{Read: func(chunk []byte) []byte {
		return bytes.ToValidUTF8(chunk, []byte("?"))
	}},
}
