package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/channeltest"
	"github.com/hearth-assistant/hearth/gateway/channel/clienttest"
	"github.com/hearth-assistant/hearth/gateway/channel/loopback"
	"github.com/hearth-assistant/hearth/gateway/channel/msteams"
	"github.com/hearth-assistant/hearth/gateway/channel/msteams/client"
	"github.com/hearth-assistant/hearth/gateway/channel/msteams/msteamstest"
)

const (
	personal = "a:1pYzD_eF-gH"
	team     = "19:abc123@thread.tacv2"
	crowd    = "19:meeting_MjIy@thread.v2"
	post     = "1790000000001"
	ada      = "40a1a0ed-4ff2-4164-a219-55518990c197"
)

func account(s *msteamstest.Server, store channel.Durable) channel.Account {
	return channel.Account{ID: "default", Now: time.Now, Durable: store, MaxFile: 1 << 20,
		Texts: map[string]string{msteams.KeyRoot: s.URL(), msteams.KeyApp: msteamstest.App, msteams.KeyTenant: msteamstest.Tenant,
			msteams.KeyHosts: "contoso.sharepoint.com"},
		Secrets: map[string]string{msteams.KeyPassword: msteamstest.Secret}}
}

// world is Teams with three conversations, and our client.
type world struct {
	*msteamstest.Server
	c     *client.Client
	files *channeltest.Files

	mu   sync.Mutex
	told map[string][]string // to who pressed a button, by its message
}

func newWorld(t *testing.T, change ...func(*channel.Account)) *world {
	t.Helper()
	s, err := msteamstest.New(t.Context(), channel.CallPath(msteams.ID, "default"))
	if err != nil {
		t.Fatal(err)
	}
	w := &world{Server: s, files: &channeltest.Files{}, told: map[string][]string{}}
	t.Cleanup(w.Close)
	w.AddConversation(personal, "personal")
	w.AddConversation(team, "channel")
	w.AddConversation(crowd, "groupChat")
	w.c = w.open(t, &clienttest.Kept{}, change...)
	w.Calls(w.c)
	return w
}

func (w *world) open(t *testing.T, store channel.Durable, change ...func(*channel.Account)) *client.Client {
	t.Helper()
	a := account(w.Server, store)
	a.OpenFile = w.files.Open
	for _, f := range change {
		f(&a)
	}
	c, err := client.New(a)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func direct() channel.Target { return channel.Target{Account: "default", Conversation: "@" + personal} }

// inRegion lets a client learn where its conversations are.
func (w *world) inRegion(t *testing.T) {
	t.Helper()
	got := clienttest.Running(t, w.c)
	w.Say(msteamstest.Said{Conversation: personal, ID: "first", User: ada, Text: "hi"})
	clienttest.Next(t, got)
}

// Script implements channeltest.Network.
func (w *world) Script(faults ...loopback.Fault) {
	for _, f := range faults {
		what := map[loopback.Op]string{loopback.OpSend: "post", loopback.OpEdit: "put"}[f.On]
		played := map[loopback.Kind]msteamstest.Fault{
			loopback.Passing: {Status: 503, Code: "ServiceUnavailable", Words: "Service is unavailable."},
			loopback.Limited: {Status: 429, Words: "API calls quota exceeded!", Reset: f.After},
			loopback.Refused: {Status: 403, Code: "NotEnoughPermissions", Words: "Not enough permissions."},
			loopback.Auth:    {Status: 401, Words: "Authorization has been denied for this request."},
			loopback.Lost:    {CutAfter: true},
			loopback.Broken:  {CutBefore: true},
		}[f.Kind]
		w.Fail(what, played)
		if f.Kind == loopback.Auth { // it is asked once more with a new token
			w.Fail(what, played)
		}
	}
}

// Receive implements channeltest.Network.
func (w *world) Receive(in channel.Inbound) {
	said := msteamstest.Said{Conversation: personal, ID: in.MessageID, User: ada, Name: "Ada", Text: in.Text}
	switch {
	case in.Thread != "":
		said.Conversation = team + ";messageid=" + in.Thread
	case in.Press.Pressed():
		w.press(said, in.Press)
		return
	case in.Reaction.Reacted():
		said.Type = "messageReaction"
		key := map[bool]string{false: "reactionsAdded", true: "reactionsRemoved"}[in.Reaction.Removed]
		said.Extra = map[string]any{"replyToId": in.Reaction.MessageID, key: []any{map[string]any{"type": "like"}}}
	}
	w.Say(said)
}

// press is a button that was pressed, as Teams tells of it.
func (w *world) press(said msteamstest.Said, p channel.Press) {
	for _, m := range w.Sent() {
		for _, b := range m.Buttons {
			var data struct {
				Choice string `json:"hearthChoice"`
			}
			if m.ID == p.MessageID && json.Unmarshal(b.Data, &data) == nil && data.Choice == p.Data {
				said.Type = "invoke"
				said.Extra = map[string]any{"name": "adaptiveCard/action", "replyToId": m.ID, "value": map[string]any{"trigger": "manual",
					"action": map[string]any{"type": "Action.Execute", "verb": b.Verb, "title": b.Title, "data": b.Data}}}
			}
		}
	}
	w.Say(said)
}

// Calls implements conformance.CallingNetwork, and reads what is answered.
func (w *world) Calls(ch channel.Channel) { w.Server.Calls(&listening{ch, w}) }

// listening is a channel whose answers to presses are written down.
type listening struct {
	channel.Channel
	w *world
}

// Call implements channel.Called.
func (l *listening) Call(ctx context.Context, c channel.Call) (channel.CallAnswer, error) {
	called, ok := channel.AsCalled(l.Channel)
	if !ok {
		return channel.CallAnswer{}, errors.New("it cannot be called")
	}
	a, err := called.Call(ctx, c)
	var ev struct {
		ReplyTo string `json:"replyToId"`
	}
	var said struct {
		Type  string          `json:"type"`
		Value json.RawMessage `json:"value"`
	}
	if err != nil || json.Unmarshal(c.Body, &ev) != nil || json.Unmarshal(a.Body, &said) != nil {
		return a, err
	}
	var words string
	var failed struct {
		Message string `json:"message"`
	}
	switch said.Type {
	case "application/vnd.microsoft.activity.message":
		_ = json.Unmarshal(said.Value, &words)
	case "application/vnd.microsoft.error":
		_ = json.Unmarshal(said.Value, &failed)
		words = failed.Message
	}
	if words != "" {
		l.w.mu.Lock()
		defer l.w.mu.Unlock()
		l.w.told[ev.ReplyTo] = append(l.w.told[ev.ReplyTo], words)
	}
	return a, err
}

// Messages implements channeltest.Network. What answers a message with buttons was said
// to who pressed one.
func (w *world) Messages() (out []loopback.Message) {
	w.mu.Lock()
	words := maps.Clone(w.told)
	w.mu.Unlock()
	for _, m := range w.Sent() {
		if m.ReplyTo != "" {
			words[m.ReplyTo] = append(words[m.ReplyTo], m.Text)
		}
	}
	for _, m := range w.Sent() {
		if m.Gone || m.ReplyTo != "" {
			continue
		}
		conversation, thread, _ := strings.Cut(m.Conversation, ";messageid=")
		if conversation == personal {
			conversation = "@" + conversation
		}
		seen := loopback.Message{ID: m.ID, To: channel.Target{Conversation: conversation, Thread: thread}, Text: m.Text, Words: words[m.ID]}
		for _, b := range m.Buttons {
			var data struct {
				Choice string `json:"hearthChoice"`
			}
			_ = json.Unmarshal(b.Data, &data)
			seen.Choices = append(seen.Choices, channel.Choice{Data: data.Choice, Label: b.Title})
		}
		for _, p := range m.Pictures {
			seen.Files = append(seen.Files, loopback.File{Name: p.Name, MIME: p.MIME, Content: p.Data})
		}
		out = append(out, seen)
	}
	return out
}

func setup(t *testing.T) *channeltest.Setup {
	t.Helper()
	w, kept := newWorld(t), &clienttest.Kept{}
	// An earlier message told where the conversations are.
	_ = kept.Put(t.Context(), "services", []byte(`{"usual":"`+msteamstest.Service+`"}`))
	open := func() channel.Channel { return w.open(t, kept) }
	return &channeltest.Setup{
		Channel: open(), Net: w, Connected: true, Waits: 30 * time.Second, Target: direct(), Again: open, Files: w.files,
		Thread:  channel.Target{Account: "default", Conversation: team, Thread: post},
		Inbound: channel.Inbound{Chat: channel.Direct, Conversation: "@" + personal, SenderID: ada},
		NextID:  func(n int) string { return "179000000100" + string(rune('0'+n)) },
		Skip:    map[loopback.Kind]string{},
		Cannot: map[string]string{"SendWithoutConnection": "a message is a request of its own",
			"FileOut":        "a file waits for the yes of its person: TestConsent",
			"FileIn":         "Teams tells no size of a file: TestFiles",
			"FileInTooLarge": "Teams tells no size of a file: TestFiles"},
	}
}

// TestChannel: it passes what every channel passes.
func TestChannel(t *testing.T) { channeltest.Run(t, setup) }

// TestChannelAsProgram: also behind the protocol of programs.
func TestChannelAsProgram(t *testing.T) { channeltest.RunAsProgram(t, setup) }

func TestKind(t *testing.T) {
	w := newWorld(t)
	right := account(w.Server, nil)
	k := msteams.Kind()
	k.New = func(a channel.Account) (channel.Channel, error) { return client.New(a) } // what hearth-channels does with it
	channeltest.Kind(t, k, right, []string{team, crowd}, []string{"@" + personal})
	for want, change := range map[string]func(a channel.Account){
		"appId is missing":         func(a channel.Account) { a.Texts[msteams.KeyApp] = "" },
		"no Microsoft App ID":      func(a channel.Account) { a.Texts[msteams.KeyApp] = "hearth" },
		"client secret is missing": func(a channel.Account) { a.Secrets[msteams.KeyPassword] = "" },
		"is the Secret ID":         func(a channel.Account) { a.Secrets[msteams.KeyPassword] = msteamstest.Tenant },
		"is no client secret":      func(a channel.Account) { a.Secrets[msteams.KeyPassword] = "canary in words" },
		"is no site":               func(a channel.Account) { a.Texts[msteams.KeySite] = "contoso.sharepoint.com" },
		"needs channels.msteams.ten": func(a channel.Account) {
			a.Texts[msteams.KeySite], a.Texts[msteams.KeyTenant] = msteamstest.Site, ""
		},
		"tenantId is no App Tenant ": func(a channel.Account) { a.Texts[msteams.KeyTenant] = "contoso" },
	} {
		a := right
		a.Texts, a.Secrets = maps.Clone(right.Texts), maps.Clone(right.Secrets)
		change(a)
		if err := msteams.Check(a); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "canary") {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if b, err := os.ReadFile("../../../../docs/channels/msteams-manifest.json"); err != nil || k.Manifest.Text != string(b) {
		t.Errorf("gateway/channel/msteams/manifest.json is another one than docs/channels/msteams-manifest.json: %v", err)
	}
	var manifest struct {
		ID   string `json:"id"`
		Bots []struct {
			ID     string   `json:"botId"`
			Scopes []string `json:"scopes"`
		} `json:"bots"`
		App struct {
			ID string `json:"id"`
		} `json:"webApplicationInfo"`
	}
	if err := json.Unmarshal([]byte(k.Manifest.Text), &manifest); err != nil || len(manifest.Bots) != 1 || len(manifest.Bots[0].Scopes) != 3 ||
		manifest.ID != manifest.Bots[0].ID || manifest.App.ID != manifest.ID {
		t.Errorf("the manifest: %+v %v", manifest, err)
	}
}

// TestReceive: people's messages come with where they are, and what they call us with.
func TestReceive(t *testing.T) {
	w := newWorld(t)
	got := clienttest.Running(t, w.c)
	us := map[string]string{"Hearth": msteamstest.Bot}
	w.Say(msteamstest.Said{Conversation: team + ";messageid=" + post, ID: "1", User: ada, Name: "Ada", Mentions: us,
		Text: "<at>Hearth</at>&nbsp;stop &lt;now&gt; &amp; here"})
	in := clienttest.Next(t, got)
	if in.Chat != channel.Room || in.Conversation != team || in.Thread != post || in.SenderID != ada || in.SenderName != "Ada" ||
		!in.Mentioned || in.Command != "stop <now> & here" || in.Text != "@Hearth stop <now> & here" || in.Label != "Town / General" ||
		in.MessageID != "1" || in.SenderIsBot {
		t.Errorf("%+v", in)
	}
	for n, tc := range []struct {
		text     string
		mentions map[string]string
		want     string
		command  string
	}{
		{"hello all", nil, "hello all", ""},
		{"<at>Bob</at> hello", map[string]string{"Bob": "29:1bob"}, "@Bob hello", ""},
		{"ask &lt;at&gt;Hearth&lt;/at&gt;", nil, "ask <at>Hearth</at>", ""},
		{"<at>Bob</at> look <at>Hearth</at>", map[string]string{"Bob": "29:1bob", "Hearth": msteamstest.Bot}, "@Bob look @Hearth", "@Bob look"},
		{"<at>Hearth</at> of theirs", map[string]string{"Hearth": "28:other"}, "@Hearth of theirs", ""},
		{"do <at>Hearth</at> it", us, "do @Hearth it", ""},
	} {
		w.Say(msteamstest.Said{Conversation: crowd, ID: "g" + string(rune('0'+n)), User: ada, Text: tc.text, Mentions: tc.mentions})
		in := clienttest.Next(t, got)
		ours := tc.mentions["Hearth"] == msteamstest.Bot
		if in.Text != tc.want || in.Command != tc.command || in.Mentioned != ours || in.Chat != channel.Group {
			t.Errorf("%+v", in)
		}
	}
	for _, no := range []msteamstest.Said{
		{Conversation: team, ID: "n1", User: ada, Type: "conversationUpdate"}, {Conversation: team, ID: "n2", User: ada},
		{Conversation: "../x", ID: "n3", User: ada, Text: "x"}, {Conversation: team, ID: "../n4", User: ada, Text: "x"},
		{Conversation: team + ";messageid=../x", ID: "n5", User: ada, Text: "x"},
		{Conversation: team, ID: "n6", User: ada, Text: "x", Extra: map[string]any{"from": map[string]any{"id": msteamstest.Bot}}},
		{Conversation: team, ID: "n7", User: ada, Text: "x", Extra: map[string]any{"from": map[string]any{"id": "../x"}}},
		{Conversation: team, ID: "n8", User: ada, Type: "messageDelete", Extra: map[string]any{"channelData": map[string]any{
			"eventType": "softDeleteMessage", "tenant": map[string]any{"id": msteamstest.Tenant}}}},
		{Conversation: team, ID: "n9", User: ada, Text: "x", Extra: map[string]any{"channelData": map[string]any{
			"tenant": map[string]any{"id": msteamstest.App}}}},
	} {
		w.Say(no)
	}
	w.Say(msteamstest.Said{Conversation: personal, ID: "2", User: ada, Text: "last"})
	if in := clienttest.Next(t, got); in.Text != "last" || in.Thread != "" || in.Conversation != "@"+personal || in.Chat != channel.Direct {
		t.Errorf("%+v", in)
	}
	if w.c.Status().Bot != "Hearth" {
		t.Errorf("%+v", w.c.Status())
	}
}

// TestEditsAndQuotes: what somebody changed comes as that, and what they answered too.
func TestEditsAndQuotes(t *testing.T) {
	w := newWorld(t)
	got := clienttest.Running(t, w.c)
	w.Say(msteamstest.Said{Conversation: crowd, ID: "1", User: ada, Text: "fisrt"})
	clienttest.Next(t, got)
	edit := map[string]any{"channelData": map[string]any{"eventType": "editMessage", "tenant": map[string]any{"id": msteamstest.Tenant}}}
	for _, words := range []string{"first", "first, and second"} {
		w.Say(msteamstest.Said{Conversation: crowd, ID: "1", User: ada, Type: "messageUpdate", Text: words, Extra: edit})
		if in := clienttest.Next(t, got); !in.Edited || in.MessageID != "1" || in.Text != words {
			t.Errorf("%+v", in)
		}
	}
	quote := `<blockquote itemscope itemtype="http://schema.skype.com/Reply" itemid="17"><strong itemprop="mri" itemid="8:x">Bob</strong>` +
		`<span itemprop="time" itemid="17"></span><p itemprop="copy">shall we &amp; when?</p></blockquote><p>tomorrow</p>`
	w.Say(msteamstest.Said{Conversation: crowd, ID: "3", User: ada, Text: "tomorrow",
		Extra: map[string]any{"attachments": []any{map[string]any{"contentType": "text/html", "content": quote}}}})
	if in := clienttest.Next(t, got); in.ReplyToText != "shall we & when?" || in.Text != "tomorrow" || len(in.Media) != 0 {
		t.Errorf("%+v", in)
	}
}

// TestReactions: the names of Teams become what people see.
func TestReactions(t *testing.T) {
	w := newWorld(t)
	got := clienttest.Running(t, w.c)
	w.Say(msteamstest.Said{Conversation: crowd, ID: "1", User: ada, Type: "messageReaction", Extra: map[string]any{"replyToId": "99",
		"reactionsAdded":   []any{map[string]any{"type": "heart"}, map[string]any{"type": "1f440_eyes"}, map[string]any{"type": ""}},
		"reactionsRemoved": []any{map[string]any{"type": "🎉"}, map[string]any{"type": "\x1b[2Jnew"}}}})
	for _, want := range []channel.Reaction{{Emoji: "❤️"}, {Emoji: "👀"}, {Emoji: "🎉", Removed: true}, {Emoji: ":[2Jnew:", Removed: true}} {
		want.MessageID, want.Ours = "99", true
		if in := clienttest.Next(t, got); in.Reaction != want || in.SenderID != ada || in.Text != "" {
			t.Errorf("%+v, want %+v", in.Reaction, want)
		}
	}
}

// TestTopLevel: answers in channels are posts of their own where a person wants that.
func TestTopLevel(t *testing.T) {
	w := newWorld(t, func(a *channel.Account) { a.Texts[msteams.KeyStyle] = msteams.TopLevel })
	got := clienttest.Running(t, w.c)
	w.Say(msteamstest.Said{Conversation: team + ";messageid=" + post, ID: "1", User: ada, Text: "hi"})
	in := clienttest.Next(t, got)
	if in.Thread != "" || in.Conversation != team {
		t.Errorf("%+v", in)
	}
	_, err := w.c.Send(t.Context(), channel.Message{To: channel.Target{Conversation: in.Conversation, Thread: in.Thread}, Text: "a post"})
	if all := w.Sent(); err != nil || len(all) != 1 || all[0].Conversation != team {
		t.Errorf("%+v %v", all, err)
	}
}

// TestPictures: pictures stand in the message, and of anything else in a group it is said
// what it needs.
func TestPictures(t *testing.T) {
	png := "\x89PNG\r\n\x1a\n" + strings.Repeat("x", 1000)
	files := fstest.MapFS{"chart.png": {Data: []byte(png)}, "plan.pdf": {Data: []byte("%PDF-1.4")}, "fake.png": {Data: []byte("<html>")},
		"large.png": {Data: []byte(png + strings.Repeat("y", 1<<20))}}
	w := newWorld(t, func(a *channel.Account) { a.OpenFile = files.Open })
	w.inRegion(t)
	c, to := w.c, direct()
	r, err := c.Send(t.Context(), channel.Message{To: to, Text: "see **this**", Media: []channel.Media{{Name: "chart.png", URL: "chart.png"}}})
	if all := w.Sent(); err != nil || len(all) != 1 || all[0].ID != r.MessageID || all[0].Text != "see this" || len(all[0].Pictures) != 1 ||
		string(all[0].Pictures[0].Data) != png || all[0].Pictures[0].MIME != "image/png" {
		t.Fatalf("%+v %v", all, err)
	}
	for _, name := range []string{"plan.pdf", "large.png", "fake.png", "missing.png"} {
		_, err := c.Send(t.Context(), channel.Message{To: group(post), Text: "see", Media: []channel.Media{{Name: name, URL: name}}})
		if !errors.Is(err, channel.ErrRefused) || !strings.Contains(err.Error(), name) ||
			name != "missing.png" && !strings.Contains(err.Error(), "sharePointSiteId") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if len(w.Sent()) != 1 {
		t.Errorf("%+v", w.Sent())
	}
}

// TestFiles: files are fetched from Microsoft's hosts alone, the bot's token goes to the
// Bot Connector alone, and what cannot be fetched is named.
func TestFiles(t *testing.T) {
	w := newWorld(t)
	got := clienttest.Running(t, w.c)
	const picture = "smba.trafficmanager.net/emea/v3/attachments/p1/views/original"
	w.Put(picture, msteamstest.File{MIME: "image/jpeg", Data: []byte("\xff\xd8\xffpicture")})
	w.Put("contoso.sharepoint.com/plan", msteamstest.File{MIME: "application/pdf", Data: []byte("%PDF")})
	w.Put("contoso.sharepoint.com/large", msteamstest.File{MIME: "x/y", Data: make([]byte, 1<<20+1)})
	download := func(name, address string) map[string]any {
		return map[string]any{"contentType": "application/vnd.microsoft.teams.file.download.info", "name": name,
			"contentUrl": "https://contoso.sharepoint.com/web/" + name,
			"content":    map[string]any{"downloadUrl": address, "uniqueId": "1150", "fileType": "pdf"}}
	}
	w.Say(msteamstest.Said{Conversation: personal, ID: "1", User: ada, Text: "see", Extra: map[string]any{"attachments": []any{
		map[string]any{"contentType": "image/jpeg", "contentUrl": "https://" + picture},
		download("plan.pdf", "https://contoso.sharepoint.com/plan?tempauth=1"), download("large.bin", "https://contoso.sharepoint.com/large"),
		download("evil.exe", "https://files.example.org/x"), map[string]any{"contentType": "text/html", "content": "<p>see</p>"},
		map[string]any{"contentType": "reference", "name": "notes.docx", "contentUrl": "https://contoso.sharepoint.com/x"}}}})
	in := clienttest.Next(t, got)
	if len(in.Media) != 3 || in.Media[0].MIME != "image/jpeg" || in.Media[1].Name != "plan.pdf" || in.Media[1].MIME != "application/pdf" ||
		in.Text != "see\n[file at files.example.org, which channels.msteams.mediaAllowHosts does not name: evil.exe]\n"+
			"[file in SharePoint, which Teams gives no bot here: notes.docx]" {
		t.Fatalf("%+v", in)
	}
	for i, want := range []string{"\xff\xd8\xffpicture", "%PDF"} {
		r, err := w.c.Fetch(t.Context(), in.Media[i])
		if err != nil {
			t.Fatal(err)
		}
		if b, err := io.ReadAll(r); string(b) != want || err != nil || r.Close() != nil {
			t.Errorf("%q %v", b, err)
		}
	}
	if !w.WithToken(picture) || w.WithToken("contoso.sharepoint.com/plan") {
		t.Error("the bot's token goes to the Bot Connector, and to nobody else")
	}
	r, err := w.c.Fetch(t.Context(), in.Media[2])
	if err == nil {
		_, err = io.ReadAll(r)
		_ = r.Close()
	}
	if !errors.Is(err, channel.ErrRefused) {
		t.Errorf("a file that is too large: %v", err)
	}
	for _, url := range []string{"", "http://contoso.sharepoint.com/plan", "https://files.example.org/x", "https://evil.trafficmanager.net/x",
		"https://contoso.sharepoint.com.evil.org/x", "https://x@contoso.sharepoint.com/plan", "https://contoso.sharepoint.com:8443/plan",
		"https://127.0.0.1/x", "https://evilcontoso.sharepoint.com/x"} {
		_, err := w.c.Fetch(t.Context(), channel.Media{URL: url})
		if !errors.Is(err, channel.ErrRefused) || strings.Contains(err.Error(), "404") {
			t.Errorf("%q: %v", url, err)
		}
	}
	if _, err := w.c.Fetch(t.Context(), channel.Media{URL: "https://contoso.sharepoint.com/missing"}); !errors.Is(err, channel.ErrRefused) {
		t.Errorf("a file that is gone: %v", err)
	}
}
