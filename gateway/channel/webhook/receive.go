package webhook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	signature "github.com/hearth-assistant/hearth/gateway/webhook"
)

// maxBody is the longest message that is taken.
const maxBody = 512 << 10

// arrived is what a program posts. Only text, and who wrote it, must be there.
type arrived struct {
	ID           string `json:"id"`           // of the message; the Webhook-Id when it is missing
	Conversation string `json:"conversation"` // the sender's id when it is missing; "#…" is a group
	Label        string `json:"label"`
	Thread       string `json:"thread"`
	SenderID     string `json:"senderId"`
	SenderName   string `json:"senderName"`
	Text         string `json:"text"`
	ReplyToText  string `json:"replyToText"`
	Mentioned    bool   `json:"mentioned"`
	Edited       bool   `json:"edited"`
	AtMs         int64  `json:"atMs"`
}

// answer is what the program is told.
type answer struct {
	OK    bool   `json:"ok"`
	Error string `json:"error,omitempty"`
}

// Webhook is where the account's program sends to, and what takes it.
func (c *Endpoint) Webhook() (path string, h http.Handler, ok bool) {
	return pathOf(c.account), http.HandlerFunc(c.called), true
}

// Run takes messages until ctx ends. Without it a program is asked to come again.
func (c *Endpoint) Run(ctx context.Context, inbox channel.Inbox) error {
	c.mu.Lock()
	c.inbox = inbox
	c.note(channel.Receiving, "")
	c.mu.Unlock()
	<-ctx.Done()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.inbox = nil
	c.note(channel.Stopped, "")
	return nil
}

// called believes nothing before the signature is right.
func (c *Endpoint) called(w http.ResponseWriter, r *http.Request) {
	status, why := c.take(w, r)
	if status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "5")
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(answer{OK: status == http.StatusAccepted, Error: why})
}

// take is the status of the answer, and what is wrong.
func (c *Endpoint) take(w http.ResponseWriter, r *http.Request) (status int, why string) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		return http.StatusMethodNotAllowed, "messages are sent with POST"
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		return http.StatusRequestEntityTooLarge, fmt.Sprintf("a message has at most %d bytes, or it was cut", maxBody)
	}
	_, err = signature.Verify(signature.Scheme{Kind: signature.Standard, Secret: c.key}, r.Header, body, c.now())
	switch {
	case errors.Is(err, signature.ErrOld):
		return http.StatusUnauthorized, "the signature is more than five minutes old or ahead: check both clocks"
	case err != nil:
		c.log.Warn("a webhook channel was called without its signature", "why", err)
		return http.StatusUnauthorized, "sign the request as standardwebhooks.com says, with this account's secret"
	}
	in, err := read(body, r.Header.Get("Webhook-Id"), c.now())
	if err != nil {
		return http.StatusBadRequest, err.Error()
	}
	in.Account = c.account
	c.mu.Lock()
	inbox := c.inbox
	c.mu.Unlock()
	if inbox == nil {
		return http.StatusServiceUnavailable, "Hearth is starting or stopping; send it again"
	}
	if err := inbox(r.Context(), in); err != nil {
		c.log.Warn("a webhook's message was not taken; its program is asked to come again", "err", err)
		return http.StatusServiceUnavailable, "the message could not be kept; send it again"
	}
	c.mu.Lock()
	c.status.LastTake = c.now()
	c.mu.Unlock()
	return http.StatusAccepted, ""
}

// read makes a message of what was posted.
func read(body []byte, hookID string, now time.Time) (channel.Inbound, error) {
	var a arrived
	d := json.NewDecoder(bytes.NewReader(body))
	if err := d.Decode(&a); err != nil {
		return channel.Inbound{}, fmt.Errorf("the body is not one JSON object of a message: %w", err)
	}
	switch {
	case a.SenderID == "":
		return channel.Inbound{}, errors.New("senderId is missing: who wrote it? It must be the same person's for ever")
	case a.Text == "":
		return channel.Inbound{}, errors.New("text is missing")
	}
	in := channel.Inbound{
		Channel: id, Chat: channel.Direct, Conversation: a.Conversation, Label: a.Label, Thread: a.Thread,
		SenderID: a.SenderID, SenderName: a.SenderName, MessageID: a.ID, Text: a.Text, ReplyToText: a.ReplyToText,
		Mentioned: a.Mentioned, Edited: a.Edited, At: now,
	}
	if in.Conversation == "" {
		in.Conversation = a.SenderID
	}
	if in.MessageID == "" {
		in.MessageID = hookID
	}
	if in.Conversation[0] == '#' {
		in.Chat = channel.Group
	}
	if a.AtMs > 0 {
		in.At = time.UnixMilli(a.AtMs)
	}
	return in, nil
}
