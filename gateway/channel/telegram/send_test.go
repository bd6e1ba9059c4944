package telegram

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/png"
	"io"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/telegram/telegramtest"
)

var (
	_ channel.Channel = (*Channel)(nil)
	_ channel.Editor  = (*Channel)(nil)
	_ channel.Deleter = (*Channel)(nil)
	_ channel.Typer   = (*Channel)(nil)
	_ channel.Reactor = (*Channel)(nil)
)

func TestSendFormatsAndShowsNoPreview(t *testing.T) {
	in(t, func(r *rig) {
		rec, err := r.send(dm, "**Hi** <you> & [docs](https://example.org/?a=1&b=2)")
		if err != nil {
			t.Fatal(err)
		}
		got := r.net.Sent(dm)
		if len(got) != 1 || rec.MessageID != number(got[0].ID) {
			t.Fatalf("receipt %+v, sent %+v", rec, got)
		}
		m := got[0]
		if m.Text != "Hi <you> & docs" || m.ParseMode != "HTML" {
			t.Errorf("sent %+v", m)
		}
		want := []telegramtest.Entity{{Type: "bold", Offset: 0, Length: 2}, {Type: "text_link", Offset: 11, Length: 4,
			URL: "https://example.org/?a=1&b=2"}}
		if diff := cmp.Diff(want, m.Entities); diff != "" {
			t.Error(diff)
		}
	})
}

// An address in the assistant's text is not opened by Telegram's servers.
func TestSec_A_UI_04_LinkPreviewsAreOff(t *testing.T) {
	in(t, func(r *rig) {
		rec, err := r.send(dm, "https://sink.example/?d=SECRET")
		if err != nil {
			t.Fatal(err)
		}
		if err := r.ch.Edit(r.t.Context(), target(dm), rec.MessageID, "![](https://sink.example/?d=SECRET) edited"); err != nil {
			t.Fatal(err)
		}
		for _, m := range r.net.Sent(dm) {
			if !m.NoPreview || m.Method != "sendMessage" {
				t.Errorf("sent with a preview: %+v", m)
			}
		}
	})
}

func TestSendIntoTopicsAndAsReply(t *testing.T) {
	in(t, func(r *rig) {
		asked := r.net.Say(forum, ann(), "q", nil)
		for _, tt := range []struct {
			thread, reply       string
			wantThread, wantTo  int64
			wantTypingInThread1 bool
		}{
			{"5", number(asked), 5, asked, false},
			{"1", "", 0, 0, true}, // the general topic is not named
			{"", "999", 0, 0, false},
		} {
			to := channel.Target{Conversation: number(forum), Thread: tt.thread, ReplyTo: tt.reply}
			if _, err := r.ch.Send(r.t.Context(), channel.Message{To: to, Text: "a"}); err != nil {
				t.Fatal(err)
			}
			sent := r.net.Sent(forum)
			if m := sent[len(sent)-1]; m.Thread != tt.wantThread || m.ReplyTo != tt.wantTo {
				t.Errorf("thread %q: sent %+v", tt.thread, m)
			}
			if err := r.ch.Typing(r.t.Context(), to); err != nil {
				t.Fatal(err)
			}
		}
		want := []telegramtest.Action{{Chat: forum, Thread: 5, Action: "typing"}, {Chat: forum, Thread: 1, Action: "typing"},
			{Chat: forum, Action: "typing"}}
		if diff := cmp.Diff(want, r.net.Actions()); diff != "" {
			t.Error(diff)
		}
	})
}

func TestSendErrors(t *testing.T) {
	limit := func(err error) bool {
		var l *channel.RateLimit
		return errors.As(err, &l) && l.After == 7*time.Second
	}
	is := func(want error) func(error) bool { return func(err error) bool { return errors.Is(err, want) } }
	passing := func(err error) bool {
		var l *channel.RateLimit
		return err != nil && !errors.As(err, &l) && !errors.Is(err, channel.ErrRefused) && !errors.Is(err, channel.ErrUncertain) &&
			!errors.Is(err, channel.ErrAuth)
	}
	for _, tt := range []struct {
		name  string
		fault telegramtest.Fault
		ok    func(error) bool
		says  string
		sent  int
	}{
		{"retry after", telegramtest.Fault{Status: 429, Description: "Too Many Requests: retry after 7", RetryAfter: 7}, limit, "wait 7s", 0},
		{"revoked", telegramtest.Fault{Status: 401, Description: "Unauthorized"}, is(channel.ErrAuth), "@BotFather", 0},
		{"blocked", telegramtest.Fault{Status: 403, Description: "Forbidden: bot was blocked by the user"}, is(channel.ErrRefused), "unblock", 0},
		{"never wrote", telegramtest.Fault{Status: 403, Description: "Forbidden: bot can't initiate conversation with a user"},
			is(channel.ErrRefused), "write to the bot first", 0},
		{"no chat", telegramtest.Fault{Status: 400, Description: "Bad Request: chat not found"}, is(channel.ErrRefused), "never wrote", 0},
		{"too long", telegramtest.Fault{Status: 400, Description: "Bad Request: message is too long"}, is(channel.ErrRefused), "too long", 0},
		{"500", telegramtest.Fault{Status: 500, Description: "Internal Server Error"}, passing, "500", 0},
		{"502 page", telegramtest.Fault{Status: 502, Body: "<html>"}, passing, "502", 0},
		{"504 page", telegramtest.Fault{Status: 504, Body: "<html>"}, is(channel.ErrUncertain), "504", 0},
		{"cut before", telegramtest.Fault{CutBefore: true}, is(channel.ErrUncertain), "broke", 0},
		{"cut after", telegramtest.Fault{CutAfter: true}, is(channel.ErrUncertain), "broke", 1},
		{"no answer", telegramtest.Fault{Hang: true}, is(channel.ErrUncertain), "broke", 0},
		{"200 nonsense", telegramtest.Fault{Body: "<html>"}, is(channel.ErrUncertain), "could not be read", 0},
		{"redirect", telegramtest.Fault{Status: 302, Body: "<html>"}, passing, "302", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in(t, func(r *rig) {
				r.net.Fail("sendMessage", tt.fault)
				_, err := r.send(dm, "hello")
				if err == nil || !tt.ok(err) || !strings.Contains(err.Error(), tt.says) {
					t.Errorf("got %v", err)
				}
				if n := len(r.net.Sent(dm)); n != tt.sent {
					t.Errorf("%d messages arrived, want %d", n, tt.sent)
				}
				if r.net.Calls("sendMessage") != 1 {
					t.Error("it was sent again by itself")
				}
			})
		})
	}
	t.Run("nobody there", func(t *testing.T) {
		in(t, func(r *rig) {
			r.net.Close()
			if _, err := r.send(dm, "hello"); !passing(err) {
				t.Errorf("got %v", err)
			}
		})
	})
}

func TestSendChecksItsTarget(t *testing.T) {
	in(t, func(r *rig) {
		for _, to := range []channel.Target{
			{}, {Conversation: "77; drop"}, {Conversation: "@"}, {Conversation: "77", Thread: "x"}, {Conversation: "77", Thread: "-1"},
			{Conversation: "77", ReplyTo: "abc"},
		} {
			_, err := r.ch.Send(r.t.Context(), channel.Message{To: to, Text: "x"})
			mustBe(t, err, channel.ErrRefused)
		}
		for _, text := range []string{"", " \n ", "```\n```", "** **\x00"[:0]} {
			_, err := r.send(dm, text)
			mustBe(t, err, channel.ErrRefused)
		}
		if r.net.Calls("sendMessage") != 0 {
			t.Error("Telegram was asked")
		}
	})
}

func TestFormattingRefusedFallsBackToPlainText(t *testing.T) {
	in(t, func(r *rig) {
		f := telegramtest.Fault{Status: 400, Description: "Bad Request: can't parse entities: Unsupported start tag"}
		r.net.Fail("sendMessage", f)
		r.net.Fail("editMessageText", f)
		rec, err := r.send(dm, "**a** <b>")
		if err != nil {
			t.Fatal(err)
		}
		if m := r.net.Sent(dm)[0]; m.Raw != "a <b>" || m.ParseMode != "" {
			t.Errorf("sent %+v", m)
		}
		if err := r.ch.Edit(r.t.Context(), target(dm), rec.MessageID, "*c*"); err != nil {
			t.Fatal(err)
		}
		if m := r.net.Sent(dm)[0]; m.Raw != "c" || m.ParseMode != "" {
			t.Errorf("edited to %+v", m)
		}
	})
}

func TestGroupThatMoved(t *testing.T) {
	in(t, func(r *rig) {
		r.net.Fail("sendMessage", telegramtest.Fault{Status: 400, Description: "Bad Request: group chat was upgraded to a supergroup chat",
			MigrateTo: group})
		if _, err := r.send(-5, "hi"); err != nil {
			t.Fatal(err)
		}
		if len(r.net.Sent(group)) != 1 {
			t.Error("not sent to the new number")
		}
	})
}

func TestEditDeleteReact(t *testing.T) {
	in(t, func(r *rig) {
		ctx := r.t.Context()
		rec, err := r.send(dm, "draft")
		if err != nil {
			t.Fatal(err)
		}
		theirs := number(r.net.Say(dm, ann(), "hi", nil))
		edit := func(id, text string) error { return r.ch.Edit(ctx, target(dm), id, text) }
		if err := edit(rec.MessageID, "**final**"); err != nil {
			t.Error(err)
		}
		if err := edit(rec.MessageID, "**final**"); err != nil {
			t.Errorf("an edit that changes nothing: %v", err)
		}
		if m := r.net.Sent(dm)[0]; m.Text != "final" || m.Edits != 1 {
			t.Errorf("message %+v", m)
		}
		mustBe(t, edit(theirs, "x"), channel.ErrRefused)
		mustBe(t, edit("999", "x"), channel.ErrRefused)
		mustBe(t, edit(rec.MessageID, " "), channel.ErrRefused)
		mustBe(t, edit(rec.MessageID, strings.Repeat("x", 4097)), channel.ErrRefused)
		mustBe(t, edit("x", "x"), channel.ErrRefused)
		r.net.Fail("editMessageText", telegramtest.Fault{CutAfter: true})
		if err := edit(rec.MessageID, "again"); err == nil || errors.Is(err, channel.ErrUncertain) {
			t.Errorf("a broken edit can be repeated, got %v", err)
		}

		for _, e := range []string{"👍", "❤️", ""} {
			if err := r.ch.React(ctx, target(dm), theirs, e); err != nil {
				t.Errorf("react %q: %v", e, err)
			}
		}
		mustBe(t, r.ch.React(ctx, target(dm), theirs, "🧀"), channel.ErrRefused)

		for range 2 { // gone is gone
			if err := r.ch.Delete(ctx, target(dm), rec.MessageID); err != nil {
				t.Error(err)
			}
		}
		if len(r.net.Sent(dm)) != 0 {
			t.Error("not deleted")
		}
	})
}

// A text within Limits always arrives, also when Telegram counts its
// characters twice.
func TestLongTexts(t *testing.T) {
	for name, text := range map[string]string{
		"letters":  strings.Repeat("x", textLimit),
		"escapes":  strings.Repeat("<&>\"", textLimit/4),
		"bold":     strings.Repeat("**a** ", textLimit/6),
		"emoji":    strings.Repeat("😀", textLimit),
		"families": strings.Repeat("👩‍👩‍👧", textLimit/5),
		"flags":    strings.Repeat("🇩🇪", textLimit/2),
		"right":    strings.Repeat("שלום ", textLimit/5),
	} {
		t.Run(name, func(t *testing.T) {
			in(t, func(r *rig) {
				if _, err := r.send(dm, text); err != nil {
					t.Fatal(err)
				}
				all := ""
				for _, m := range r.net.Sent(dm) {
					all += m.Text
				}
				want := strings.ReplaceAll(text, "**", "")
				if squeeze(all) != squeeze(want) {
					t.Errorf("%d bytes arrived of %d", len(all), len(want))
				}
				for _, m := range r.net.Sent(dm) {
					if strings.HasPrefix(m.Text, "\u200d") || strings.HasSuffix(m.Text, "\u200d") {
						t.Error("cut inside a character")
					}
				}
			})
		})
	}
}

func squeeze(s string) string { return strings.Join(strings.Fields(s), "") }

// 429 in the middle of a message of several parts: the next attempt with the
// same key goes on behind the part that arrived.
func TestFault_F_CHAN_04_GoesOnBehindWhatArrived(t *testing.T) {
	m := channel.Message{To: target(dm), Text: "see", Key: "k1", Media: []channel.Media{
		{URL: "https://example.org/a.ogg", MIME: "audio/ogg"}, {URL: "https://example.org/b.ogg", MIME: "audio/ogg"},
		{URL: "https://example.org/c.ogg", MIME: "audio/ogg"}}}
	in(t, func(r *rig) {
		r.net.Fail("sendVoice", telegramtest.Fault{}, telegramtest.Fault{Status: 429, Description: "Too Many Requests", RetryAfter: 3})
		_, err := r.ch.Send(r.t.Context(), m)
		var limit *channel.RateLimit
		if !errors.As(err, &limit) {
			t.Fatalf("got %v", err)
		}
		rec, err := r.ch.Send(r.t.Context(), m)
		if err != nil {
			t.Fatal(err)
		}
		sent := r.net.Sent(dm)
		if len(sent) != 3 || sent[0].Text != "see" || sent[2].FileURL != "https://example.org/c.ogg" || rec.MessageID != number(sent[0].ID) {
			t.Errorf("receipt %v, sent %+v", rec, sent)
		}
	})
	in(t, func(r *rig) { // without a key nobody can go on
		m.Key = ""
		r.net.Fail("sendVoice", telegramtest.Fault{}, telegramtest.Fault{Status: 500, Description: "x"})
		_, err := r.ch.Send(r.t.Context(), m)
		mustBe(t, err, channel.ErrUncertain)
	})
}

func TestRateLimitOfTheServer(t *testing.T) {
	in(t, func(r *rig) {
		r.net.Limit(2, 10*time.Second)
		sent := 0
		for range 6 {
			_, err := r.send(dm, "x")
			var limit *channel.RateLimit
			if errors.As(err, &limit) {
				r.wait(limit.After)
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			sent++
		}
		if sent < 4 {
			t.Errorf("only %d of 6 attempts sent", sent)
		}
	})
}

func pictureOf(t *testing.T, w, h int) string {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, w, h))); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestSendFiles(t *testing.T) {
	pic, long := pictureOf(t, 3, 2), pictureOf(t, 1, 50)
	files := fstest.MapFS{
		"long.png": {Data: []byte(long)},
		"a.png":    {Data: []byte(pic)}, "b.pdf": {Data: []byte("%PDF-1.4")}, "fake.png": {Data: []byte("no picture")},
		"empty.txt": {}, "dir/x": {Data: []byte("x")}, "v.ogg": {Data: []byte("OggS")},
	}
	o := Options{OpenFile: func(p string) (fs.File, error) { return files.Open(p) }, MaxFile: 1000}
	inMode(t, o, func(r *rig) {
		send := func(text string, m ...channel.Media) error {
			_, err := r.ch.Send(r.t.Context(), channel.Message{To: target(dm), Text: text, Media: m})
			return err
		}
		last := func() telegramtest.Message { s := r.net.Sent(dm); return s[len(s)-1] }
		if err := send("**look**", channel.Media{MIME: "image/png", URL: "a.png", Name: "ä\r\n\"x\".png"}); err != nil {
			t.Fatal(err)
		}
		if m := last(); m.Method != "sendPhoto" || m.Text != "look" || string(m.File.Data) != pic || m.File.Name != "ä___x_.png" {
			t.Errorf("sent %+v %+v", m, m.File)
		}
		if err := send("", channel.Media{MIME: "image/png", URL: "fake.png"}); err != nil {
			t.Fatal(err)
		}
		if m := last(); m.Method != "sendDocument" || m.File.Name != "fake.png" {
			t.Errorf("a photo that is none was not sent as a file: %+v", m)
		}
		if err := send("", channel.Media{MIME: "image/png", URL: "long.png"}); err != nil || last().Method != "sendDocument" {
			t.Errorf("a picture of a shape that is no photo: %v, %+v", err, last())
		}
		if err := send("", channel.Media{MIME: "audio/ogg", URL: "v.ogg"}); err != nil || last().Method != "sendVoice" {
			t.Errorf("voice: %v %+v", err, last())
		}
		if err := send(strings.Repeat("y", 1025), channel.Media{URL: "b.pdf"}); err != nil {
			t.Fatal(err)
		}
		if m := last(); m.Method != "sendDocument" || m.Text != "" {
			t.Errorf("a long text is a message of its own: %+v", m)
		}
		for _, u := range []string{"missing", "empty.txt", "dir", "ftp://x/y", "file:///etc/passwd", "telegram-file:abc", "",
			"http://user:pw@host/x"} {
			mustBe(t, send("", channel.Media{URL: u}), channel.ErrRefused)
		}
		files["big"] = &fstest.MapFile{Data: make([]byte, 1001)}
		mustBe(t, send("", channel.Media{URL: "big"}), channel.ErrRefused)
	})
}

// A path that a model names does not leave unless somebody allowed it.
func TestSec_A_FILE_NoLocalFilesByDefault(t *testing.T) {
	in(t, func(r *rig) {
		_, err := r.ch.Send(r.t.Context(), channel.Message{To: target(dm), Media: []channel.Media{{URL: "/etc/passwd"}}})
		mustBe(t, err, channel.ErrRefused)
		if len(r.net.Sent(dm)) != 0 {
			t.Error("a file was sent")
		}
	})
}

func TestFetch(t *testing.T) {
	inMode(t, Options{MaxFile: 10}, func(r *rig) {
		r.net.AddFile("ok", telegramtest.File{Path: "photos/file_1.jpg", Data: []byte("0123456789")})
		r.net.AddFile("big", telegramtest.File{Path: "photos/file_2.jpg", Data: []byte("0123456789X")})
		f, err := r.ch.Fetch(r.t.Context(), channel.Media{URL: "telegram-file:ok"})
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(f)
		if err != nil || string(b) != "0123456789" || f.Close() != nil {
			t.Errorf("got %q, %v", b, err)
		}
		_, err = r.ch.Fetch(r.t.Context(), channel.Media{URL: "telegram-file:big"})
		mustBe(t, err, channel.ErrRefused)
		_, err = r.ch.Fetch(r.t.Context(), channel.Media{URL: "telegram-file:gone"})
		mustBe(t, err, channel.ErrRefused)
		_, err = r.ch.Fetch(r.t.Context(), channel.Media{URL: "telegram-file:ok", Size: 11})
		mustBe(t, err, channel.ErrRefused)
	})
}

func TestCappedReader(t *testing.T) {
	f := &capped{c: newClient(nil, "https://x", testToken), r: io.NopCloser(strings.NewReader("0123456789X")), left: 10}
	b, err := io.ReadAll(f)
	if string(b) != "0123456789" || !errors.Is(err, channel.ErrRefused) {
		t.Errorf("got %q, %v", b, err)
	}
}

func TestSendStopsWithItsContext(t *testing.T) {
	in(t, func(r *rig) {
		r.net.Fail("sendMessage", telegramtest.Fault{Hang: true})
		ctx, cancel := context.WithTimeout(r.t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		_, err := r.ch.Send(ctx, channel.Message{To: target(dm), Text: "x"})
		mustBe(t, err, channel.ErrUncertain)
		if d := time.Since(start); d != time.Second {
			t.Errorf("took %v", d)
		}
	})
}
