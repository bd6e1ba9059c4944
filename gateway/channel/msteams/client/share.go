package client

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/msteams"
	"github.com/hearth-assistant/hearth/internal/text"
)

// mostSmall is how many bytes are brought to Graph in one request.
const mostSmall = 4 << 20

// folder is where files lie in the site. Each message has one below it, so that a file
// replaces none but itself when it goes up again.
const folder = "HearthShared"

// withShared puts a file into SharePoint, and its card and its link into a message.
func (c *Client) withShared(ctx context.Context, m channel.Message, a activity, name string, data []byte) (activity, error) {
	if c.site == "" {
		return a, refused("%s is no such picture. %s", text.Ellipsis(name, 60), onlyPictures)
	}
	name = plainName(name)
	where := "/root:/" + folder + "/" + ofMessage(m.Key) + "/" + url.PathEscape(name)
	put := c.putLarge
	if len(data) <= mostSmall {
		put = c.putSmall
	}
	it, err := put(ctx, where, data)
	if err != nil {
		return a, err
	}
	if !isItem(it.ID) {
		return a, refused("%s names no file that was put into SharePoint", graphName)
	}
	link, err := c.link(ctx, it.ID)
	if err != nil && !forbidden(err) {
		return a, err
	}
	if err != nil { // an organisation can forbid links; who may see the site sees the file
		c.Logger.Warn("there is no link to a file in SharePoint", "err", err)
	}
	seen, err := c.about(ctx, it.ID)
	if err != nil {
		return a, err
	}
	card, shows := c.shownAs(seen.Name, seen.WebDAV, idIn(seen.ETag), "")
	_, err = c.keeps(link)
	if !shows && err != nil {
		return a, refused("the file %s is in SharePoint, but there is neither a card nor a link for it", text.Ellipsis(name, 60))
	}
	if err == nil { // the card opens for who may see the site, the link for everybody in the organisation
		words := strings.NewReplacer("[", "(", "]", ")", "`", "'").Replace(name)
		with, err := said(strings.TrimSpace(m.Text + "\n\n[" + words + "](" + link + ")"))
		if err != nil {
			return a, err
		}
		a.Text, a.Format = with.Text, with.Format
	}
	if shows {
		a.Attachments = append(a.Attachments, card)
	}
	return a, nil
}

// forbidden: Graph makes no such link here.
func forbidden(err error) bool {
	var no *apiError
	return errors.As(err, &no) && (no.status == http.StatusForbidden || no.status == http.StatusBadRequest)
}

// ofMessage is the name of the folder of a message, the same for each attempt to send it.
func ofMessage(key string) string {
	if key == "" {
		return strings.ToLower(rand.Text()[:12])
	}
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:6])
}

// idIn is the id that an eTag begins with, "{GUID},2" with or without quotes; "": it has
// none.
func idIn(eTag string) string {
	id, _, _ := strings.Cut(strings.Trim(eTag, `"`), ",")
	if id = strings.Trim(id, "{}"); !msteams.IsGUID(id) {
		return ""
	}
	return id
}

// isItem reports whether a text has the form of the id of a file in SharePoint.
func isItem(s string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!-_"
	return s != "" && len(s) <= 200 && strings.Trim(s, letters) == ""
}
