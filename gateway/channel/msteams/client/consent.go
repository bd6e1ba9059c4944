package client

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/endpoint"
	"github.com/hearth-assistant/hearth/gateway/channel/msteams"
	"github.com/hearth-assistant/hearth/internal/sleep"
	"github.com/hearth-assistant/hearth/internal/text"
)

// How a bot puts a file into the OneDrive of its person: it asks with a card, Teams names
// an address for the bytes, and a second card shows the file.
// https://learn.microsoft.com/en-us/microsoftteams/platform/bots/how-to/bots-filesv4
const (
	consentType   = "application/vnd.microsoft.teams.card.file.consent"
	fileInfoType  = "application/vnd.microsoft.teams.card.file.info"
	consentInvoke = "fileConsent/invoke"
)

// consentCard asks a person whether they want a file.
type consentCard struct {
	Description string         `json:"description"`
	Size        int64          `json:"sizeInBytes"`
	Accept      consentContext `json:"acceptContext"`
	Decline     consentContext `json:"declineContext"`
}

// consentContext comes back with the answer.
type consentContext struct {
	ID string `json:"hearthFile"`
}

// fileInfo is the content of a card that shows a file.
type fileInfo struct {
	ID   string `json:"uniqueId"`
	Kind string `json:"fileType"`
}

// uploadInfo is where Teams wants the bytes, and what the file is there.
type uploadInfo struct {
	ContentURL string `json:"contentUrl"`
	Name       string `json:"name"`
	UploadURL  string `json:"uploadUrl"`
	ID         string `json:"uniqueId"`
	Kind       string `json:"fileType"`
}

func (f *askedFile) card() attachment {
	brought := consentContext{f.ID}
	return attachment{Type: consentType, Name: f.Name,
		Content: consentCard{Description: "A file from your assistant", Size: int64(len(f.data)), Accept: brought, Decline: brought}}
}

// offer makes a file wait, and sends a message that asks its person whether they want it.
func (c *Client) offer(ctx context.Context, m channel.Message, a activity, name string, data []byte) (channel.Receipt, error) {
	f := &askedFile{ID: rand.Text(), Conversation: m.To.Conversation, Name: plainName(name), Text: m.Text, data: data}
	a.Attachments = append(a.Attachments, f.card())
	if err := c.waiting.add(ctx, f); err != nil {
		return channel.Receipt{}, err
	}
	r, err := c.post(ctx, m.To, "", a)
	switch {
	case err == nil:
		c.waiting.asked(ctx, f, r.MessageID)
	case !errors.Is(err, channel.ErrUncertain): // nobody sees the question
		c.waiting.finish(ctx, f)
	}
	return r, err
}

// consented takes the answer to a question. Teams waits some seconds for the word that
// it was taken, so that the bytes go up after it.
func (c *Client) consented(ctx context.Context, ev event) channel.CallAnswer {
	var v struct {
		Type    string         `json:"type"`
		Action  string         `json:"action"`
		Context consentContext `json:"context"`
		Upload  uploadInfo     `json:"uploadInfo"`
	}
	in, ok := c.place(ev)
	if !ok || in.Chat != channel.Direct || json.Unmarshal(ev.Value, &v) != nil || v.Type != "fileUpload" ||
		v.Action != "accept" && v.Action != "decline" || !isFileID(v.Context.ID) {
		return endpoint.Say(http.StatusNotImplemented)
	}
	if err := c.services.note(ctx, in.Conversation, ev.Service); err != nil {
		c.Logger.Warn("where a conversation is could not be kept", "err", err)
	}
	card := ev.ReplyTo
	if !msteams.IsActivity(card) {
		card = ""
	}
	f, data, found := c.waiting.answer(v.Context.ID, in.Conversation, in.SenderID, card)
	switch {
	case found == unknown && v.Action == "accept":
		c.Logger.Info("a file was not sent", "why", "no such file waits for this person")
		c.waiting.lost(job{conversation: in.Conversation, words: "[That file waits no longer. Ask for it again.]"})
	case found == noLonger && v.Action == "accept":
		c.waiting.put(job{file: f, words: waitsNot(f.Name, "it waited for too long, or Hearth was started anew meanwhile")})
	case found == granted && v.Action == "accept":
		c.waiting.put(job{file: f, data: data, to: &v.Upload})
	case f != nil: // they do not want it
		c.waiting.put(job{file: f})
	}
	return done()
}

// isFileID reports whether a text has the form of the id of a question.
func isFileID(s string) bool {
	return len(s) == len("ABCDEFGHIJKLMNOPQRSTUVWXYZ") && strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") == ""
}

// job is what is left to do after an answer. file nil: words are said in conversation.
type job struct {
	file         *askedFile
	data         []byte
	to           *uploadInfo // nil: the question is taken away, with words if there are some
	conversation string
	words        string
}

func waitsNot(name, why string) string {
	return "[The file “" + text.Ellipsis(name, 60) + "” waits no longer: " + why + ". Ask for it again.]"
}

// lost queues words about a file that nobody knows. Whoever presses often hears less.
func (w *waiting) lost(j job) {
	if len(w.jobs) < mostWaiting {
		w.put(j)
	}
}

// settling does one job after the other until ctx ends.
func (c *Client) settling(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case j := <-c.waiting.jobs:
			c.settle(ctx, j)
		}
	}
}

func (c *Client) settle(ctx context.Context, j job) {
	if j.file == nil {
		to := channel.Target{Account: c.account, Conversation: j.conversation}
		if _, err := c.post(ctx, to, "", activity{Type: "message", Format: "plain", Text: j.words}); err != nil {
			c.Logger.Warn("who asked for a file could not be told that it is gone", "err", err)
		}
		return
	}
	words := j.words
	if j.to != nil {
		words = c.give(ctx, j.file, j.data, *j.to)
	}
	if ctx.Err() != nil {
		return // the question stands, and its answer is that the file waits no longer
	}
	c.waiting.finish(ctx, j.file)
	if err := c.takeAway(ctx, j.file, words); err != nil {
		c.Logger.Warn("the question about a file could not be taken away", "err", err)
	}
}

// give puts a file where its person wants it, and shows it. words are for them when it
// is not there, or nobody knows.
func (c *Client) give(ctx context.Context, f *askedFile, data []byte, to uploadInfo) (words string) {
	name := text.Ellipsis(f.Name, 60)
	_, err := c.upload(ctx, to.UploadURL, data)
	switch {
	case errors.Is(err, channel.ErrUncertain):
		c.Logger.Warn("it is not known whether a file arrived", "err", err)
		return "[Whether the file “" + name + "” arrived in your OneDrive is not known: look there before you ask for it again.]"
	case err != nil:
		c.Logger.Warn("a file was not taken", "err", err)
		return "[The file “" + name + "” could not be put into your OneDrive. Ask for it again.]"
	}
	card, ok := c.shownAs(to.Name, to.ContentURL, to.ID, to.Kind)
	if !ok {
		return "[The file “" + name + "” is in your OneDrive.]"
	}
	err = c.trying(ctx, func() error {
		_, err := c.post(ctx, channel.Target{Account: c.account, Conversation: f.Conversation}, "",
			activity{Type: "message", Format: "plain", Attachments: []attachment{card}})
		return err
	})
	if err != nil && !errors.Is(err, channel.ErrUncertain) { // one that may be seen is not said twice
		c.Logger.Warn("a file could not be shown", "err", err)
		return "[The file “" + name + "” is in your OneDrive.]"
	}
	return ""
}

// takeAway removes a question, so that nobody answers it twice. The words beside it stay.
func (c *Client) takeAway(ctx context.Context, f *askedFile, words string) error {
	card, beside := c.waiting.shown(f)
	if card == "" {
		return nil
	}
	to := channel.Target{Account: c.account, Conversation: f.Conversation}
	if words = strings.TrimSpace(beside + "\n\n" + words); words == "" {
		return c.trying(ctx, func() error { return c.Delete(ctx, to, card) })
	}
	return c.trying(ctx, func() error { return c.Edit(ctx, to, card, words) })
}

// tries of what failed in passing, and the rest between them at first.
const (
	mostTries = 5
	firstRest = 200 * time.Millisecond
	longRest  = 30 * time.Second
)

// trying does something again that failed in passing.
func (c *Client) trying(ctx context.Context, do func() error) error {
	for n, rest := 1, firstRest; ; n, rest = n+1, 2*rest {
		err := do()
		if err == nil || n == mostTries || errors.Is(err, channel.ErrRefused) || errors.Is(err, channel.ErrUncertain) ||
			errors.Is(err, channel.ErrAuth) {
			return err
		}
		var limit *channel.RateLimit
		if errors.As(err, &limit) {
			rest = max(rest, min(limit.After, longRest))
		}
		if sleep.For(ctx, rest) != nil {
			return err
		}
	}
}

// shownAs is the card of a file that lies in SharePoint or OneDrive; false: what was told
// of it is no such file's.
func (c *Client) shownAs(name, address, id, kind string) (attachment, bool) {
	_, err := c.keeps(address)
	if kind == "" {
		kind = strings.TrimPrefix(path.Ext(name), ".")
	}
	if err != nil || !msteams.IsPerson(id) || len(kind) > 20 || strings.ContainsAny(kind, " /\\<>") {
		return attachment{}, false
	}
	return attachment{Type: fileInfoType, Name: plainName(name), URL: address, Content: fileInfo{id, strings.ToLower(kind)}}, true
}

// storeHosts are where SharePoint and OneDrive keep files: those below them are meant.
func storeHosts() []string {
	return []string{"sharepoint.com", "sharepoint-df.com", "onedrive.com", "1drv.com"}
}

// keeps reads an address in SharePoint or OneDrive. Where channels.msteams.mediaAllowHosts
// names hosts, it is at one of them; its “*” is for what is fetched, and sends no file
// anywhere else.
func (c *Client) keeps(address string) (*url.URL, error) {
	u, err := publicAddress(address)
	if err != nil {
		return nil, err
	}
	hosts := slices.DeleteFunc(slices.Clone(c.hosts), func(host string) bool { return host == "*" })
	if len(hosts) == 0 {
		hosts = storeHosts()
	}
	if !below(u.Host, hosts) {
		return nil, refused("the file is to go to %s, which channels.msteams.mediaAllowHosts does not name", hostOf(address))
	}
	return u, nil
}

// plainName is the name of a file as OneDrive takes it.
// https://support.microsoft.com/office/64883a5d-228e-48f5-b3d2-eb39e07630fa
func plainName(name string) string {
	name = strings.Map(func(r rune) rune {
		if r < 0x20 || r == 0x7f || strings.ContainsRune("\"*:<>?/\\|#%", r) {
			return '_'
		}
		return r
	}, text.Line(strings.ToValidUTF8(name, "_")))
	if len(name) > 120 {
		end := path.Ext(name)
		if len(end) > 16 {
			end = ""
		}
		name = text.Prefix(strings.TrimSuffix(name, end), 120-len(end)) + end
	}
	name = strings.TrimLeft(strings.Trim(name, ". "), "~")
	if name == "" {
		return "file"
	}
	return name
}
