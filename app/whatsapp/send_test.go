package main

import (
	"io/fs"
	"testing"
	"testing/fstest"

	"github.com/hearth-assistant/hearth/gateway/channel"
)

// What is wished of a file is what WhatsApp is given: a picture or video as a document, and a
// video that plays as a GIF does.
func TestManner(t *testing.T) {
	files := fstest.MapFS{"a.png": {Data: []byte("picture")}, "b.mp4": {Data: []byte("film")}}
	c := &account{openFile: func(p string) (fs.File, error) { return files.Open(p) }}
	for _, tc := range []struct {
		file, kind           string
		how                  channel.Manner
		picture, video, loop bool
	}{
		{"a.png", "image/png", channel.Manner{}, true, false, false},
		{"a.png", "image/png", channel.Manner{Animation: true, Silent: true}, true, false, false},
		{"a.png", "image/png", channel.Manner{Document: true}, false, false, false},
		{"b.mp4", "video/mp4", channel.Manner{}, false, true, false},
		{"b.mp4", "video/mp4", channel.Manner{Animation: true}, false, true, true},
		{"b.mp4", "video/mp4", channel.Manner{Document: true, Animation: true}, false, false, false},
	} {
		m, err := c.file(t.Context(), newFake(), channel.Media{URL: tc.file, Name: tc.file, MIME: tc.kind}, tc.how, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		if (m.GetImageMessage() != nil) != tc.picture || (m.GetVideoMessage() != nil) != tc.video ||
			m.GetVideoMessage().GetGifPlayback() != tc.loop || (m.GetDocumentMessage() != nil) == (tc.picture || tc.video) {
			t.Errorf("%s, %+v: %v", tc.file, tc.how, m)
		}
	}
}
