package client

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/webcall"
)

// Microsoft Graph, which has the files of SharePoint.
const (
	graphHost = "graph.microsoft.com"
	graphName = "Microsoft Graph"
)

// graphCall is a request to Graph. Each can be done again without harm.
type graphCall struct {
	method, what, path string
	kind               string // of body
	body               []byte
}

// graph makes a request, once more with a new token when the old one is not accepted.
// Answers with a status from 200 to 302 are returned.
func (c *Client) graph(ctx context.Context, q graphCall) (webcall.Answer, error) {
	for try := 0; ; try++ {
		token, err := c.bearerToken(ctx, graphScope)
		if errors.Is(err, channel.ErrAuth) { // the account itself may be well
			return webcall.Answer{}, refused("there is no token for %s: %v", graphName, err)
		}
		if err != nil {
			return webcall.Answer{}, err
		}
		a, err := c.graphOnce(ctx, token, q)
		switch {
		case err != nil:
			return a, webcall.Again(err, graphName, q.what)
		case a.Status == http.StatusUnauthorized && try == 0:
			c.tokens.forget(graphScope, token)
		case a.Status < 200 || a.Status > 302:
			return a, noGraph(a, q.what)
		default:
			return a, nil
		}
	}
}

func (c *Client) graphOnce(ctx context.Context, token string, q graphCall) (webcall.Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, fileTime)
	defer cancel()
	req, err := http.NewRequest(q.method, c.address(graphHost, q.path), bytes.NewReader(q.body))
	if err != nil {
		return webcall.Answer{}, fmt.Errorf("write a request: %w", err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("User-Agent", userAgent)
	if q.kind != "" {
		req.Header.Set("Content-Type", q.kind)
	}
	return webcall.Do(ctx, c.http, req, maxAnswer)
}

// noGraph says what an answer of Graph means that is not what was asked for.
// https://learn.microsoft.com/en-us/graph/errors
func noGraph(a webcall.Answer, what string) error {
	var said struct {
		Error struct {
			Code    string `json:"code"`
			Message string `json:"message"`
		} `json:"error"`
	}
	_ = json.Unmarshal(a.Body, &said) // an answer may be anything
	asks := a.Header.Get("Retry-After") != "" && a.Status > 500
	if a.Status == http.StatusTooManyRequests || asks {
		return &channel.RateLimit{After: webcall.RetryAfter(a.Header, "Retry-After")}
	}
	e := &apiError{what: what, status: a.Status, code: codeOf(said.Error.Code), graph: true,
		said: webcall.Words(said.Error.Message, http.StatusText(a.Status))}
	if a.Status < 500 && a.Status != http.StatusRequestTimeout || a.Status == http.StatusInsufficientStorage {
		e.meaning = channel.ErrRefused
	}
	return e
}

// graphAdvice says what a person can do about an answer of Graph.
func graphAdvice(status int) string {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return ". The app lacks a right: an administrator grants it Sites.ReadWrite.All, an application permission of Microsoft Graph " +
			"(Microsoft Entra, App registrations, the app, API permissions)"
	case http.StatusNotFound:
		return ". It is not in SharePoint: for a file that is to be sent, look at channels.msteams.sharePointSiteId"
	case http.StatusInsufficientStorage:
		return ". The site in SharePoint is full"
	case http.StatusLocked, http.StatusConflict:
		return ". Something else in SharePoint has this name, or somebody has it open"
	}
	return ""
}

// stored is a file in SharePoint.
type stored struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	ETag   string `json:"eTag"`
	WebDAV string `json:"webDavUrl"`
}

// readGraph reads an answer of Graph.
func readGraph(a webcall.Answer, what string, result any) error {
	if json.Unmarshal(a.Body, result) != nil {
		return fmt.Errorf("the answer of %s to %s could not be read", graphName, what)
	}
	return nil
}

// shareURL is where Graph gives a file whose address in SharePoint is known, with who sent
// it behind it.
// https://learn.microsoft.com/en-us/graph/api/shares-get
func shareURL(address, sender string) string {
	return "https://" + graphHost + sharePrefix + base64.RawURLEncoding.EncodeToString([]byte(address)) + shareEnd + "#" + sender
}

const (
	sharePrefix = "/v1.0/shares/u!"
	shareItem   = "/driveItem"
	shareEnd    = shareItem + "/content"
)

// shareOf are the parts of an address that shareURL made.
func shareOf(address string) (encoded, sender string, ok bool) {
	address, sender, _ = strings.Cut(address, "#")
	encoded, begins := strings.CutPrefix(address, "https://"+graphHost+sharePrefix)
	encoded, ends := strings.CutSuffix(encoded, shareEnd)
	return encoded, sender, begins && ends
}

func isShare(address string) bool { _, _, ok := shareOf(address); return ok }

// owned asks whether a file was put into SharePoint, or changed last, by who sent it. The
// bot's right reads every file of the organisation, so that a message with the address of
// somebody else's would show it to people who must not see it.
func (c *Client) owned(ctx context.Context, encoded, sender string) error {
	const what = "whose a file is"
	a, err := c.graph(ctx, graphCall{method: http.MethodGet, what: what,
		path: sharePrefix + encoded + shareItem + "?$select=createdBy,lastModifiedBy"})
	if err != nil {
		return err
	}
	type by struct {
		User struct {
			ID string `json:"id"`
		} `json:"user"`
	}
	var said struct {
		Created by `json:"createdBy"`
		Changed by `json:"lastModifiedBy"`
	}
	if err := readGraph(a, what, &said); err != nil {
		return err
	}
	if sender == "" || !strings.EqualFold(said.Created.User.ID, sender) && !strings.EqualFold(said.Changed.User.ID, sender) {
		return refused("somebody else put the file into SharePoint: only what its sender put there, or was the last to change, is read")
	}
	return nil
}

// shared asks Graph for a file in SharePoint. The answer is an address that holds for some
// minutes, and wants no token.
// https://learn.microsoft.com/en-us/graph/api/driveitem-get-content
func (c *Client) shared(ctx context.Context, share string) (address string, err error) {
	encoded, sender, _ := shareOf(share)
	in, err := base64.RawURLEncoding.DecodeString(encoded)
	if err == nil {
		_, err = c.keeps(string(in))
	}
	if err != nil || c.site == "" {
		return "", refused("the file is at no address that can be fetched")
	}
	if err := c.owned(ctx, encoded, sender); err != nil {
		return "", err
	}
	a, err := c.graph(ctx, graphCall{method: http.MethodGet, what: "a file", path: sharePrefix + encoded + shareEnd})
	if err != nil {
		return "", err
	}
	if address = a.Header.Get("Location"); a.Status != http.StatusFound || address == "" {
		return "", refused("%s says not where the file is (%d)", graphName, a.Status)
	}
	if _, err := c.keeps(address); err != nil {
		return "", err
	}
	return address, nil
}

// inSite is a path of Graph in the site that files for groups go to.
func (c *Client) inSite(rest string) string { return "/v1.0/sites/" + c.site + "/drive" + rest }

// putSmall brings a small file whole, and putLarge any other in ranges.
func (c *Client) putSmall(ctx context.Context, where string, data []byte) (it stored, err error) {
	a, err := c.graph(ctx, graphCall{method: http.MethodPut, what: "a file for SharePoint", kind: "application/octet-stream", body: data,
		path: c.inSite(where+":/content") + "?" + url.Values{"@microsoft.graph.conflictBehavior": {"replace"}}.Encode()})
	if err != nil {
		return it, err
	}
	return it, readGraph(a, "a file", &it)
}

func (c *Client) putLarge(ctx context.Context, where string, data []byte) (it stored, err error) {
	const what = "an upload to SharePoint"
	a, err := c.graph(ctx, graphCall{method: http.MethodPost, what: what, kind: "application/json",
		path: c.inSite(where + ":/createUploadSession"), body: []byte(`{"item":{"@microsoft.graph.conflictBehavior":"replace"}}`)})
	if err != nil {
		return it, err
	}
	var session struct {
		Address string `json:"uploadUrl"`
	}
	if err := readGraph(a, what, &session); err != nil {
		return it, err
	}
	if a, err = c.upload(ctx, session.Address, data); err != nil {
		if errors.Is(err, channel.ErrUncertain) { // nobody sees it before there is a message: it goes up once more
			err = fmt.Errorf("%s broke: %s", what, strings.TrimPrefix(err.Error(), channel.ErrUncertain.Error()+": "))
		}
		return it, err
	}
	return it, readGraph(a, what, &it)
}

// about asks what a card of a file needs.
func (c *Client) about(ctx context.Context, id string) (it stored, err error) {
	a, err := c.graph(ctx, graphCall{method: http.MethodGet, what: "a look at a file",
		path: c.inSite("/items/" + url.PathEscape(id) + "?$select=eTag,webDavUrl,name")})
	if err != nil {
		return it, err
	}
	return it, readGraph(a, "a look at a file", &it)
}

// link lets everybody in the organisation who has the address read a file.
// https://learn.microsoft.com/en-us/graph/api/driveitem-createlink
func (c *Client) link(ctx context.Context, id string) (address string, err error) {
	a, err := c.graph(ctx, graphCall{method: http.MethodPost, what: "a link to a file", kind: "application/json",
		path: c.inSite("/items/" + url.PathEscape(id) + "/createLink"), body: []byte(`{"type":"view","scope":"organization"}`)})
	if err != nil {
		return "", err
	}
	var said struct {
		Link struct {
			Address string `json:"webUrl"`
		} `json:"link"`
	}
	err = readGraph(a, "a link to a file", &said)
	return said.Link.Address, err
}
