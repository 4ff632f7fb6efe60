// Package attachment reads the attachments of messages, for runtimes that take their bytes.
package attachment

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
)

// mediaTypes are the media types of files that models read other than as text, by their
// extensions. The table of the machine would make a runtime behave differently elsewhere.
var mediaTypes = map[string]string{
	".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif", ".webp": "image/webp", ".bmp": "image/bmp",
	".pdf": "application/pdf", ".wav": "audio/wav", ".mp3": "audio/mpeg",
}

// MediaType returns the media type of an attachment: as given, or by the extension of its path
// or else of its name. A picture of another extension is a PNG, and any other file is text.
func MediaType(a event.Attachment) string {
	of := func(name string) string { return mediaTypes[strings.ToLower(filepath.Ext(name))] }
	byKind := "text/plain"
	if a.Kind == "image" {
		byKind = "image/png"
	}
	return cmp.Or(a.MIME, of(a.Path), of(a.Name), byKind)
}

// IsPicture reports whether an attachment is a picture.
func IsPicture(a event.Attachment) bool {
	return a.Kind == "image" || strings.HasPrefix(a.MIME, "image/")
}

// IsData reports whether the URL of an attachment holds its bytes.
func IsData(a event.Attachment) bool { return strings.HasPrefix(a.URL, "data:") }

// Data returns the media type and the bytes in base64 of an attachment with a path or a data
// URL. For any other it returns adapters.ErrUnsupported.
func Data(a event.Attachment) (mediaType, data string, err error) {
	switch {
	case a.Path != "":
		b, err := os.ReadFile(a.Path)
		return MediaType(a), base64.StdEncoding.EncodeToString(b), err
	case !IsData(a):
		return "", "", fmt.Errorf("needs a path or a data URL: %w", adapters.ErrUnsupported)
	}
	head, data, ok := strings.Cut(strings.TrimPrefix(a.URL, "data:"), ",")
	mediaType, encoded := strings.CutSuffix(head, ";base64")
	if !ok || !encoded {
		return "", "", errors.New("url: want data:<type>;base64,<data>")
	}
	return mediaType, data, nil
}

// Bytes returns the media type and the bytes of an attachment, as Data does.
func Bytes(a event.Attachment) (mediaType string, b []byte, err error) {
	mediaType, data, err := Data(a)
	if err != nil {
		return "", nil, err
	}
	b, err = base64.StdEncoding.DecodeString(data)
	return mediaType, b, err
}
