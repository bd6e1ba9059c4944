// Package postbox is the example of docs/add-a-channel.md: a made-up messaging
// network, "Postbox", with three requests over HTTP. It owns the transport and
// nothing else, as every channel; no program contains it.
package postbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/egress"
)

const (
	id        = "postbox"
	keyToken  = "token"
	keyServer = "server"

	maxAnswer  = 1 << 20
	retryAfter = 250 * time.Millisecond // after something passing, before the next try
)

// Kind describes Postbox. It is what gateway/channel/networks would list.
func Kind() channel.Kind {
	return channel.Kind{
		ID: id, Label: "Postbox", Connects: keyToken,
		Settings: []channel.Setting{
			{Key: keyToken, Form: channel.SecretText, Valid: validToken,
				Help: `a token of Postbox begins with "pb-"`, Alone: "Postbox gives a message to one receiver only"},
			{Key: keyServer, Form: channel.WebAddress, Shared: true},
		},
		MaxFile: 1, MaxFileWhy: "Postbox carries no files yet",
		New:     open,
		IsGroup: func(conversation string) bool { return strings.HasPrefix(conversation, "group-") },
	}
}

func validToken(s string) bool { return strings.HasPrefix(s, "pb-") && len(s) >= 8 }

type account struct {
	name, token, server string
	http                http.Client
}

func open(a channel.Account) (channel.Channel, error) {
	if !validToken(a.Secrets[keyToken]) {
		return nil, errors.New(`the token of Postbox is missing or wrong: it begins with "pb-"`) // never the token itself
	}
	server := a.Texts[keyServer]
	if server == "" {
		server = "https://postbox.example"
	}
	return &account{
		name: a.ID, token: a.Secrets[keyToken], server: strings.TrimRight(server, "/"),
		http: http.Client{Transport: egress.Operator(), CheckRedirect: egress.SameOrigin},
	}, nil
}

// ID is the network's name.
func (*account) ID() string { return id }

// Account is the account's name.
func (a *account) Account() string { return a.name }

// Limits are those that Postbox documents.
func (*account) Limits() channel.Limits {
	return channel.Limits{Text: 500, Unit: channel.Characters, Dialect: channel.Markdown}
}

// letter is a message as Postbox writes it.
type letter struct {
	ID   string `json:"id"`
	Chat string `json:"chat"`
	From string `json:"from"`
	Text string `json:"text"`
	Key  string `json:"key,omitempty"`
}

// Run receives until ctx ends. A letter is taken out of the box after inbox has
// accepted it: what was not accepted, or was accepted just before the connection
// broke, comes again, and package inbound knows it by its MessageID.
func (a *account) Run(ctx context.Context, inbox channel.Inbox) error {
	for ctx.Err() == nil {
		err := a.receive(ctx, inbox)
		switch {
		case err == nil:
		case errors.Is(err, channel.ErrAuth):
			return err // nothing that waiting mends: shown to the person
		default:
			select {
			case <-ctx.Done():
			case <-time.After(retryAfter):
			}
		}
	}
	return nil
}

func (a *account) receive(ctx context.Context, inbox channel.Inbox) error {
	var letters []letter
	if err := a.call(ctx, http.MethodGet, "/letters", nil, &letters); err != nil {
		return err
	}
	for _, l := range letters {
		chat := channel.Direct
		if Kind().Group(l.Chat) {
			chat = channel.Group
		}
		err := inbox(ctx, channel.Inbound{
			Channel: id, Account: a.name, Chat: chat, Conversation: l.Chat, SenderID: l.From, SenderName: l.From,
			MessageID: l.ID, Text: l.Text, At: time.Now(),
		})
		if err != nil {
			return err
		}
		if err := a.call(ctx, http.MethodDelete, "/letters/"+url.PathEscape(l.ID), nil, nil); err != nil {
			return err
		}
	}
	return nil
}

// Send sends one message. It does not try again: that is package outbound's.
func (a *account) Send(ctx context.Context, m channel.Message) (channel.Receipt, error) {
	var sent letter
	err := a.call(ctx, http.MethodPost, "/letters", letter{Chat: m.To.Conversation, Text: m.Text, Key: m.Key}, &sent)
	return channel.Receipt{MessageID: sent.ID}, err
}

// call makes one request and says what its failure means.
func (a *account) call(ctx context.Context, method, path string, body, answer any) error {
	payload := io.Reader(http.NoBody)
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			return err
		}
		payload = bytes.NewReader(raw)
	}
	var written atomic.Bool
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteRequest: func(httptrace.WroteRequestInfo) { written.Store(true) }})
	req, err := http.NewRequestWithContext(traced, method, a.server+path, payload)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+a.token)
	res, err := a.http.Do(req)
	if err != nil {
		if written.Load() { // it may have arrived, so it must not be sent again by itself
			return fmt.Errorf("%w: the connection to Postbox broke", channel.ErrUncertain)
		}
		return fmt.Errorf("Postbox cannot be reached: %w", err)
	}
	defer res.Body.Close()
	if err := meaning(res); err != nil || answer == nil {
		return err
	}
	if err := json.NewDecoder(io.LimitReader(res.Body, maxAnswer)).Decode(answer); err != nil {
		return fmt.Errorf("%w: the answer of Postbox cannot be read", channel.ErrUncertain)
	}
	return nil
}

// meaning turns the status of an answer into the contract's errors. What is none
// of them passes: nothing was done, and it may be tried again.
func meaning(res *http.Response) error {
	switch res.StatusCode {
	case http.StatusOK:
		return nil
	case http.StatusUnauthorized:
		return fmt.Errorf("%w: set channels.postbox.token to a new one", channel.ErrAuth)
	case http.StatusTooManyRequests:
		seconds, _ := strconv.Atoi(res.Header.Get("Retry-After"))
		return &channel.RateLimit{After: time.Duration(seconds) * time.Second}
	case http.StatusBadRequest, http.StatusForbidden, http.StatusNotFound:
		return fmt.Errorf("%w: Postbox answered %s", channel.ErrRefused, res.Status)
	}
	return fmt.Errorf("Postbox answered %s", res.Status)
}
