package telegram

import (
	"bytes"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/telegram/telegramtest"
)

func album(names ...string) (out []channel.Media) {
	mimes := map[string]string{"png": "image/png", "mp4": "video/mp4", "pdf": "application/pdf", "mp3": "audio/mpeg", "ogg": "audio/ogg",
		"gif": "image/gif"}
	for _, n := range names {
		_, end, _ := strings.Cut(n, ".")
		out = append(out, channel.Media{URL: n, Name: n, MIME: mimes[end], Size: 10})
	}
	return out
}

// What Telegram shows together is one message each, in the files' own order.
func TestAlbums(t *testing.T) {
	var many, wanted []string
	for i := range 12 {
		many = append(many, fmt.Sprintf("%d.png", i))
	}
	wanted = []string{strings.Join(many[:10], " "), strings.Join(many[10:], " ")}
	big := album("a.mp4", "b.mp4", "c.mp4")
	for i := range big {
		big[i].Size = 20 << 20
	}
	for _, tc := range []struct {
		name  string
		media []channel.Media
		want  []string
	}{
		{"none", nil, nil},
		{"one", album("a.png"), []string{"a.png"}},
		{"pictures and videos", album("a.png", "b.mp4", "c.png"), []string{"a.png b.mp4 c.png"}},
		{"documents and music apart", album("a.png", "b.pdf", "c.mp3", "d.png", "e.pdf", "f.mp3"),
			[]string{"a.png d.png", "b.pdf e.pdf", "c.mp3 f.mp3"}},
		{"voice and what moves are alone", album("a.ogg", "b.ogg", "c.gif", "d.gif"), []string{"a.ogg", "b.ogg", "c.gif", "d.gif"}},
		{"at most ten", album(many...), wanted},
		{"at most what one request carries", big, []string{"a.mp4 b.mp4", "c.mp4"}},
	} {
		var got []string
		for _, a := range (&Channel{}).Albums(tc.media, channel.Manner{}) {
			var names []string
			for _, m := range a {
				names = append(names, m.Name)
			}
			got = append(got, strings.Join(names, " "))
		}
		if strings.Join(got, "|") != strings.Join(tc.want, "|") {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
}

func TestSendAlbums(t *testing.T) {
	pic := pictureOf(t, 3, 2)
	files := fstest.MapFS{"a.png": {Data: []byte(pic)}, "b.mp4": {Data: []byte("film")}, "c.pdf": {Data: []byte("%PDF")},
		"d.pdf": {Data: []byte("%PDF-1")}, "bad.png": {Data: []byte("no picture")}}
	inMode(t, Options{OpenFile: func(p string) (fs.File, error) { return files.Open(p) }}, func(r *rig) {
		said := r.net.Say(dm, ann(), "send them", nil)
		to := target(dm)
		to.ReplyTo = number(said)
		receipt, err := r.ch.Send(r.t.Context(), channel.Message{To: to, Text: "**look** at <these>",
			Media: album("a.png", "b.mp4", "c.pdf", "d.pdf")})
		if err != nil {
			t.Fatal(err)
		}
		m := r.net.Sent(dm)
		if len(m) != 4 || receipt.MessageID != number(m[0].ID) || m[0].Album == "" || m[0].Album != m[1].Album || m[2].Album != m[3].Album ||
			m[0].Album == m[2].Album || m[0].Text != "look at <these>" || m[1].Text+m[2].Text != "" || m[0].ReplyTo != said ||
			m[2].ReplyTo != 0 || !bytes.Equal(m[0].File.Data, []byte(pic)) || string(m[1].File.Data) != "film" || m[3].File.Name != "d.pdf" {
			t.Fatalf("%+v", m)
		}
		if m[0].Entities == nil || r.net.Calls("sendMediaGroup") != 2 {
			t.Errorf("%+v, %d requests", m[0].Entities, r.net.Calls("sendMediaGroup"))
		}
		long := strings.Repeat("y", 1025)
		if _, err := r.ch.Send(r.t.Context(), channel.Message{To: target(dm), Text: long, Media: album("a.png", "b.mp4")}); err != nil {
			t.Fatal(err)
		}
		if m = r.net.Sent(dm)[4:]; len(m) != 3 || m[0].Text != long || m[1].Text != "" || m[1].Album == "" {
			t.Errorf("a long text is a message of its own: %+v", m)
		}
		// One that is no picture: Telegram takes none of them.
		_, err = r.ch.Send(r.t.Context(), channel.Message{To: target(dm), Media: album("a.png", "bad.png")})
		mustBe(t, err, channel.ErrRefused)
		if n := len(r.net.Sent(dm)); n != 7 {
			t.Errorf("%d messages", n)
		}
		_, err = r.ch.Send(r.t.Context(), channel.Message{To: target(forum), Media: album("a.png", "missing.png")})
		mustBe(t, err, channel.ErrRefused)
		thread := target(forum)
		thread.Thread = "5"
		if _, err := r.ch.Send(r.t.Context(), channel.Message{To: thread, Media: album("a.png", "b.mp4")}); err != nil {
			t.Fatal(err)
		}
		if m = r.net.Sent(forum); len(m) != 2 || m[0].Thread != 5 || m[1].Thread != 5 {
			t.Errorf("in a topic: %+v", m)
		}
	})
}

func TestAnAlbumThatMayHaveArrivedIsNotSentAgain(t *testing.T) {
	files := fstest.MapFS{"a.mp4": {Data: []byte("film")}, "b.mp4": {Data: []byte("film")}}
	inMode(t, Options{OpenFile: func(p string) (fs.File, error) { return files.Open(p) }}, func(r *rig) {
		r.net.Fail("sendMediaGroup", telegramtest.Fault{CutAfter: true})
		_, err := r.ch.Send(r.t.Context(), channel.Message{To: target(dm), Key: "k", Media: album("a.mp4", "b.mp4")})
		mustBe(t, err, channel.ErrUncertain)
		r.net.Fail("sendMediaGroup", telegramtest.Fault{Status: 400, Description: "Bad Request: group chat was upgraded to a supergroup chat",
			MigrateTo: group})
		if _, err := r.ch.Send(r.t.Context(), channel.Message{To: target(dm), Media: album("a.mp4", "b.mp4")}); err != nil {
			t.Fatal(err)
		}
		r.net.Fail("sendMediaGroup", telegramtest.Fault{Status: 400, Description: "Bad Request: can't parse entities: x"})
		if _, err := r.ch.Send(r.t.Context(), channel.Message{To: target(group), Text: "**a**", Media: album("a.mp4", "b.mp4")}); err != nil {
			t.Fatal(err)
		}
		if m := r.net.Sent(group); len(m) != 4 || m[2].Text != "a" || m[2].ParseMode != "" {
			t.Errorf("%+v", m)
		}
	})
}
