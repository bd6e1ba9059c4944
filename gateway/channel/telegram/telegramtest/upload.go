package telegramtest

import (
	"bytes"
	"image"
	_ "image/gif" // kinds of pictures that Telegram reads
	_ "image/jpeg"
	_ "image/png"
	"net/http"
	"strings"
)

// upload checks a file as Telegram does.
func upload(field string, f File) error {
	limit := 50 << 20
	if field == "photo" {
		limit = 10 << 20
	}
	switch {
	case len(f.Data) == 0:
		return bad("file must be non-empty")
	case len(f.Data) > limit:
		return &refusal{code: http.StatusRequestEntityTooLarge, text: "Request Entity Too Large"}
	case f.Name == "" || strings.ContainsAny(f.Name, "/\\\r\n"):
		return bad("file name is empty or not a name")
	case field != "photo":
		return nil
	}
	c, _, err := image.DecodeConfig(bytes.NewReader(f.Data))
	switch {
	case err != nil:
		return bad("IMAGE_PROCESS_FAILED")
	case c.Width+c.Height > 10_000 || c.Width > 20*c.Height || c.Height > 20*c.Width:
		return bad("PHOTO_INVALID_DIMENSIONS")
	}
	return nil
}
