package telegram

import (
	"fmt"
	"io/fs"
	"testing"
	"testing/fstest"

	"github.com/hearth-assistant/hearth/gateway/channel"
)

// What is wished of a message is what Telegram is asked for, by the method that does it.
func TestManner(t *testing.T) {
	files := fstest.MapFS{"a.png": {Data: []byte(pictureOf(t, 3, 2))}, "b.png": {Data: []byte(pictureOf(t, 3, 2))},
		"c.mp3": {Data: []byte("song")},
		"d.mp4": {Data: []byte("film")}, "e.mp3": {Data: []byte("song")}}
	of := map[string]string{"png": "image/png", "mp3": "audio/mpeg", "mp4": "video/mp4"}
	media := func(names ...string) (out []channel.Media) {
		for _, n := range names {
			out = append(out, channel.Media{URL: n, Name: n, MIME: of[n[2:]], Size: 1})
		}
		return out
	}
	inMode(t, Options{OpenFile: func(p string) (fs.File, error) { return files.Open(p) }}, func(r *rig) {
		for _, c := range []struct {
			how    channel.Manner
			files  []string
			want   []string
			silent bool
		}{
			{channel.Manner{}, []string{"a.png"}, []string{"sendPhoto"}, false},
			{channel.Manner{Document: true}, []string{"a.png"}, []string{"sendDocument"}, false},
			{channel.Manner{Document: true}, []string{"a.png", "d.mp4"}, []string{"sendMediaGroup", "sendMediaGroup"}, false},
			{channel.Manner{Voice: true}, []string{"c.mp3"}, []string{"sendVoice"}, false},
			{channel.Manner{Voice: true}, []string{"c.mp3", "e.mp3"}, []string{"sendVoice", "sendVoice"}, false},
			{channel.Manner{Voice: true}, []string{"a.png"}, []string{"sendPhoto"}, false},
			{channel.Manner{Animation: true}, []string{"d.mp4"}, []string{"sendAnimation"}, false},
			{channel.Manner{Silent: true}, []string{"a.png"}, []string{"sendPhoto"}, true},
			{channel.Manner{Silent: true}, []string{"a.png", "b.png"}, []string{"sendMediaGroup", "sendMediaGroup"}, true},
			{channel.Manner{Silent: true}, nil, []string{"sendMessage"}, true},
		} {
			before := len(r.net.Sent(dm))
			m := channel.Message{To: target(dm), Text: "words", Media: media(c.files...), Manner: c.how}
			if _, err := r.ch.Send(r.t.Context(), m); err != nil {
				t.Fatalf("%+v: %v", c, err)
			}
			var got []string
			for _, m := range r.net.Sent(dm)[before:] {
				got = append(got, m.Method)
				if m.Quiet != c.silent {
					t.Errorf("%+v: silent is %v", c, m.Quiet)
				}
			}
			if fmt.Sprint(got) != fmt.Sprint(c.want) {
				t.Errorf("%+v: it was sent by %q", c, got)
			}
		}
		for _, how := range []channel.Manner{{}, {Silent: true, Public: true}} {
			p := channel.Poll{Question: "Where to?", Options: []string{"Sea", "Mountains"}, Manner: how}
			if _, err := r.ch.Poll(r.t.Context(), target(dm), p); err != nil {
				t.Fatal(err)
			}
			all := r.net.Sent(dm)
			if m := all[len(all)-1]; m.Public != how.Public || m.Quiet != how.Silent {
				t.Errorf("%+v: the poll is %+v", how, m)
			}
		}
	})
}
