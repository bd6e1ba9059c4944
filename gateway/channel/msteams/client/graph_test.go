package client_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/clienttest"
	"github.com/hearth-assistant/hearth/gateway/channel/msteams"
	"github.com/hearth-assistant/hearth/gateway/channel/msteams/msteamstest"
)

func withSite(a *channel.Account) { a.Texts[msteams.KeySite] = msteamstest.Site }

// document is a message with a file.
func document(to channel.Target, words, name string) channel.Message {
	return channel.Message{To: to, Text: words, Key: words + name, Media: []channel.Media{{Name: name, URL: name}}}
}

// TestShared: a file for a group or a channel goes into SharePoint, and stands in the
// message as a card and a link, or as what there can be of both.
func TestShared(t *testing.T) {
	files := fstest.MapFS{"plan.pdf": {Data: pdf(24)}, "small.pdf": {Data: pdf(4 << 20)}, "large.pdf": {Data: pdf(21 << 20)}}
	w := sharing(t, files, withSite)
	for n, to := range []channel.Target{{Conversation: crowd}, group(post), {Conversation: crowd}} {
		name := []string{"plan.pdf", "small.pdf", "large.pdf"}[n]
		m := w.send(t, w.c, to, "see **this**", name)
		stored := w.Drive()
		if len(stored) != n+1 || !bytes.Equal(stored[n].Data, files[name].Data) || !strings.HasPrefix(stored[n].Path, "/HearthShared/") ||
			!strings.HasSuffix(stored[n].Path, "/"+name) || stored[n].Links != 1 {
			t.Errorf("%s: %d files", name, len(stored))
		}
		if m.Text != "see this\n"+name || len(m.Shown) != 1 || m.Shown[0].Name != name || m.Shown[0].Kind != "pdf" || len(m.Asks) != 0 {
			t.Errorf("%s: %+v", name, m)
		}
	}
	w.Links(false)
	if m := w.send(t, w.c, group(post), "no link", "plan.pdf"); len(m.Shown) != 1 || m.Text != "no link" {
		t.Errorf("%+v", m)
	}
	w.Tags(false)
	if _, err := w.c.Send(t.Context(), document(group(post), "neither", "plan.pdf")); !errors.Is(err, channel.ErrRefused) {
		t.Errorf("neither a card nor a link: %v", err)
	}
	w.Links(true)
	if m := w.send(t, w.c, group(post), "no card", "plan.pdf"); len(m.Shown) != 0 || m.Text != "no card\nplan.pdf" {
		t.Errorf("%+v", m)
	}
	if m := w.send(t, w.c, direct(), "", "plan.pdf"); len(m.Asks) != 1 {
		t.Errorf("in a chat with one person: %+v", m)
	}
}

// TestFault_F_CH_TeamsGraph: of each way in which a step breaks it is told whether it can
// be tried again; the next try replaces what the first one brought, and one message shows
// it.
func TestFault_F_CH_TeamsGraph(t *testing.T) {
	busy := msteamstest.Fault{Status: 503, Code: "serviceNotAvailable", Words: "x"}
	for name, tc := range map[string]struct {
		step  string
		file  string
		fault []msteamstest.Fault
		kind  error // nil: passing
		says  string
	}{
		"busy":            {"content", "plan.pdf", []msteamstest.Fault{busy}, nil, "503"},
		"bandwidth":       {"content", "plan.pdf", []msteamstest.Fault{{Status: 509, Reset: time.Second}}, nil, "asks to wait"},
		"often":           {"content", "plan.pdf", []msteamstest.Fault{{Status: 429, Reset: time.Second}}, nil, "asks to wait"},
		"cut":             {"content", "plan.pdf", []msteamstest.Fault{{CutBefore: true}}, nil, "could not be reached"},
		"cut after":       {"content", "plan.pdf", []msteamstest.Fault{{CutAfter: true}}, nil, "could not be reached"},
		"half":            {"content", "plan.pdf", []msteamstest.Fault{{Half: true}}, nil, ""},
		"full":            {"content", "plan.pdf", []msteamstest.Fault{{Status: 507, Code: "x"}}, channel.ErrRefused, "full"},
		"conflict":        {"content", "plan.pdf", []msteamstest.Fault{{Status: 409, Code: "x"}}, channel.ErrRefused, "this name"},
		"words of others": {"content", "plan.pdf", []msteamstest.Fault{{Status: 400, Code: "<", Words: "x"}}, channel.ErrRefused, "400 x"},
		"no session":      {"session", "large.pdf", []msteamstest.Fault{busy}, nil, "503"},
		"a range, cut":    {"upload", "large.pdf", []msteamstest.Fault{{}, {CutAfter: true}}, nil, "broke"},
		"no range":        {"upload", "large.pdf", []msteamstest.Fault{{Status: 403}}, channel.ErrRefused, "does not take"},
		"no link yet":     {"link", "plan.pdf", []msteamstest.Fault{{Status: 429, Reset: time.Second}}, nil, "asks to wait"},
		"link, cut":       {"link", "plan.pdf", []msteamstest.Fault{{CutAfter: true}}, nil, "could not be reached"},
		"no look":         {"item", "plan.pdf", []msteamstest.Fault{busy}, nil, "503"},
		"message, cut":    {"post", "plan.pdf", []msteamstest.Fault{{CutAfter: true}}, channel.ErrUncertain, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := sharing(t, fstest.MapFS{"plan.pdf": {Data: pdf(24)}, "large.pdf": {Data: pdf(11 << 20)}}, withSite)
			w.Fail(tc.step, tc.fault...)
			m := document(group(post), "see", tc.file)
			_, err := w.c.Send(t.Context(), m)
			final := errors.Is(err, channel.ErrRefused) || errors.Is(err, channel.ErrUncertain) || errors.Is(err, channel.ErrAuth)
			if err == nil || tc.kind != nil && !errors.Is(err, tc.kind) || tc.kind == nil && final || !strings.Contains(err.Error(), tc.says) ||
				strings.ContainsAny(err.Error(), "\x1b<") {
				t.Fatalf("%v", err)
			}
			if !errors.Is(err, channel.ErrUncertain) {
				if len(w.Sent()) != 0 {
					t.Errorf("people see %+v", w.Sent())
				}
				if _, err := w.c.Send(t.Context(), m); err != nil {
					t.Error(err)
				}
			}
			if all, stored := w.Sent(), w.Drive(); len(all) != 1 || len(all[0].Shown) != 1 || len(stored) != 1 {
				t.Errorf("%d files, and people see %+v", len(stored), all)
			}
		})
	}
}

// TestFault_F_CH_TeamsGraphLogin: without the right, or with a site that is not there, it
// is said what to do; the token of the Bot Connector is not the one of Graph.
func TestFault_F_CH_TeamsGraphLogin(t *testing.T) {
	files := fstest.MapFS{"plan.pdf": {Data: pdf(24)}}
	w := sharing(t, files, withSite)
	says := func(what string) {
		t.Helper()
		_, err := w.c.Send(t.Context(), document(group(post), "see", "plan.pdf"))
		if !errors.Is(err, channel.ErrRefused) || errors.Is(err, channel.ErrAuth) || !strings.Contains(err.Error(), what) ||
			strings.Contains(err.Error(), "canary") {
			t.Errorf("%v, want %s", err, what)
		}
	}
	w.Right(false)
	says("Sites.ReadWrite.All")
	w.Right(true)
	w.Expire()
	w.send(t, w.c, group(post), "a token that ended is replaced", "plan.pdf")
	w.NoTokens(&msteamstest.Fault{Status: 401, Code: "7000222", Words: "Expired."})
	says("has ended")
	w.NoTokens(nil)
	other := sharing(t, files, func(a *channel.Account) {
		a.Texts[msteams.KeySite] = strings.Replace(msteamstest.Site, "2c7", "3c7", 1)
	})
	w = other
	says("look at channels.msteams.sharePointSiteId")
}

// TestSharedIn: files that people have in SharePoint come in where there is a site.
func TestSharedIn(t *testing.T) {
	const address = "https://contoso.sharepoint.com/sites/town/Shared Documents/notes.docx"
	w := newWorld(t, withSite)
	w.Share(address, msteamstest.File{MIME: "application/octet-stream", Data: []byte("PK notes"), Owner: strings.ToUpper(ada)})
	w.Share(address+"2", msteamstest.File{Data: make([]byte, 1<<20+1), Owner: ada})
	got := clienttest.Running(t, w.c)
	reference := func(name, address string) map[string]any {
		return map[string]any{"contentType": "reference", "name": name, "contentUrl": address}
	}
	w.Say(msteamstest.Said{Conversation: crowd, ID: "1", User: ada, Text: "see", Extra: map[string]any{"attachments": []any{
		reference("notes.docx", address), reference("evil.docx", "https://evil.example.org/x"), reference("large.docx", address+"2"),
		reference("gone.docx", address+"3")}}})
	in := clienttest.Next(t, got)
	if len(in.Media) != 3 || in.Media[0].Name != "notes.docx" || !strings.Contains(in.Media[0].MIME, "/") ||
		in.Text != "see\n[file at evil.example.org, which channels.msteams.mediaAllowHosts does not name: evil.docx]" {
		t.Fatalf("%+v", in)
	}
	r, err := w.c.Fetch(t.Context(), in.Media[0])
	if err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(r); string(b) != "PK notes" || err != nil || r.Close() != nil {
		t.Errorf("%q %v", b, err)
	}
	if w.WithToken("contoso.sharepoint.com/_layouts/15/download1") {
		t.Error("a token went to SharePoint")
	}
	for n, m := range in.Media[1:] {
		r, err := w.c.Fetch(t.Context(), m)
		if err == nil {
			_, err = io.ReadAll(r)
			_ = r.Close()
		}
		if !errors.Is(err, channel.ErrRefused) {
			t.Errorf("%d: %v", n+1, err)
		}
	}
	w.Fail("share", msteamstest.Fault{Status: 503, Code: "serviceNotAvailable"})
	if _, err := w.c.Fetch(t.Context(), in.Media[0]); err == nil || errors.Is(err, channel.ErrRefused) {
		t.Errorf("busy: %v", err)
	}
}

// TestSec_A_CH_TeamsShares: no message makes the bot ask Graph for anything but a file at
// an address in SharePoint, and without a site it asks for nothing.
func TestSec_A_CH_TeamsShares(t *testing.T) {
	const share = "https://graph.microsoft.com/v1.0/shares/u!"
	for _, hosts := range []string{"contoso.sharepoint.com", "*", "*\nmicrosoft.com"} {
		w := newWorld(t, withSite, func(a *channel.Account) { a.Texts[msteams.KeyHosts] = hosts })
		got := clienttest.Running(t, w.c)
		var all []any
		for _, address := range []string{share + "aHR0cHM/driveItem/content", "https://graph.microsoft.com/v1.0/sites/root/drive/root/children",
			"https://graph.microsoft.com/v1.0/users"} {
			all = append(all, map[string]any{"contentType": "application/vnd.microsoft.teams.file.download.info", "name": "x",
				"content": map[string]any{"downloadUrl": address, "fileType": "pdf"}},
				map[string]any{"contentType": "image/png", "contentUrl": address})
		}
		w.Say(msteamstest.Said{Conversation: crowd, ID: "1", User: eve, Text: "see", Extra: map[string]any{"attachments": all}})
		if in := clienttest.Next(t, got); len(in.Media) != 0 {
			t.Errorf("%q: %+v", hosts, in.Media)
		}
	}
	w := newWorld(t, withSite)
	for _, address := range []string{share + "!!/driveItem/content", share + "/driveItem/content", share + "../../me/driveItem/content",
		share + "aHR0cHM6Ly9ldmlsLmV4YW1wbGUub3JnL3g/driveItem/content", "https://graph.microsoft.com/v1.0/me"} {
		if _, err := w.c.Fetch(t.Context(), channel.Media{URL: address}); !errors.Is(err, channel.ErrRefused) {
			t.Errorf("%q: %v", address, err)
		}
	}
	if w.Granted() != 0 || len(w.Elsewhere()) != 0 {
		t.Errorf("%d tokens, and it asked elsewhere: %q", w.Granted(), w.Elsewhere())
	}
	// Who knows where somebody else's file is does not get it by way of the bot.
	const address = "https://contoso.sharepoint.com/sites/board/salaries.xlsx"
	w.Share(address, msteamstest.File{Data: []byte("PK salaries"), Owner: ada})
	got := clienttest.Running(t, w.c)
	w.Say(msteamstest.Said{Conversation: crowd, ID: "2", User: eve, Text: "see", Extra: map[string]any{"attachments": []any{
		map[string]any{"contentType": "reference", "name": "salaries.xlsx", "contentUrl": address}}}})
	in := clienttest.Next(t, got)
	if len(in.Media) != 1 {
		t.Fatalf("%+v", in)
	}
	if _, err := w.c.Fetch(t.Context(), in.Media[0]); !errors.Is(err, channel.ErrRefused) || !strings.Contains(err.Error(), "somebody else") {
		t.Errorf("somebody else's: %v", err)
	}
	w = newWorld(t)
	_, err := w.c.Fetch(t.Context(), channel.Media{URL: share + "aHR0cHM6Ly9jb250b3NvLnNoYXJlcG9pbnQuY29tL3g/driveItem/content"})
	if !errors.Is(err, channel.ErrRefused) || w.Granted() != 0 {
		t.Errorf("without a site: %v", err)
	}
}
