package client

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/channel/bearer"
	"github.com/hearth-assistant/hearth/gateway/channel/endpoint"
	"github.com/hearth-assistant/hearth/gateway/channel/msteams"
	"github.com/hearth-assistant/hearth/internal/text"
)

// channelID is Teams among the networks that the Bot Connector speaks for. In others
// anybody says who they are.
const channelID = "msteams"

// Call takes what the Bot Connector sends. It believes nothing before the token is
// proven, and then only what the token is for.
func (c *Client) Call(ctx context.Context, in channel.Call) (channel.CallAnswer, error) {
	if in.Method != http.MethodPost {
		return endpoint.Say(http.StatusMethodNotAllowed), nil
	}
	seal, known, err := c.proven(ctx, in.Header)
	switch {
	case err != nil:
		return c.Later(err), nil
	case !known:
		return endpoint.Say(http.StatusUnauthorized), nil
	}
	var ev event
	if json.Unmarshal(in.Body, &ev) != nil {
		return endpoint.Say(http.StatusBadRequest), nil
	}
	if why := c.foreign(ev, seal); why != "" {
		c.Logger.Info("a call was refused", "why", why)
		return endpoint.Say(http.StatusForbidden), nil
	}
	if !c.ours(ev) {
		c.Logger.Info("a message was left out", "why", "it is of another organisation than channels.msteams.tenantId")
		return done(), nil
	}
	return c.take(ctx, ev), nil
}

// done is the answer to what was taken, and to what is nothing to us.
func done() channel.CallAnswer { return endpoint.JSON(http.StatusOK, struct{}{}) }

// take hands over what an event says, one thing after the other.
func (c *Client) take(ctx context.Context, ev event) channel.CallAnswer {
	if ev.Type == "invoke" {
		return c.invoked(ctx, ev)
	}
	all := c.read(ev)
	if len(all) == 0 {
		return done()
	}
	c.noted(ctx, ev, all[0].in)
	for _, one := range all {
		if err := c.Take(ctx, one.id, one.in); err != nil {
			return c.Later(err)
		}
	}
	return done()
}

// noted keeps where a conversation lives, and what the bot is called.
func (c *Client) noted(ctx context.Context, ev event, in channel.Inbound) {
	if err := c.services.note(ctx, in.Conversation, ev.Service); err != nil {
		c.Logger.Warn("where a conversation is could not be kept", "err", err)
	}
	if in.Chat == channel.Direct {
		c.waiting.met(in.Conversation, in.SenderID)
	}
	if ev.Recipient.Name != "" {
		c.Called(text.Ellipsis(text.Line(ev.Recipient.Name), 100))
	}
}

// proof is what a token says beside that it is right.
type proof struct {
	service      string   // where the Bot Connector's other end is
	endorsements []string // for whom the key speaks
}

// proven reports whether the Bot Connector signed the token of a call, for this bot.
// The error means that nobody knows.
func (c *Client) proven(ctx context.Context, h http.Header) (p proof, ok bool, err error) {
	token, err := bearer.Token(h)
	if err != nil {
		return p, false, nil //nolint:nilerr // it is not proven
	}
	claims, key, err := c.keys.Verify(ctx, token, bearer.Expect{Issuers: []string{issuer}, Audience: c.app})
	for _, no := range []error{bearer.ErrNone, bearer.ErrForged, bearer.ErrOld, bearer.ErrOther} {
		if errors.Is(err, no) {
			c.Logger.Info("a call was refused", "why", err)
			return p, false, nil
		}
	}
	if err != nil {
		return p, false, err
	}
	var more struct {
		Service string `json:"serviceurl"`
	}
	if json.Unmarshal(claims.Body, &more) != nil || more.Service == "" {
		c.Logger.Info("a call was refused", "why", "its token names no service")
		return p, false, nil
	}
	return proof{service: more.Service, endorsements: key.Endorsements}, true, nil
}

// foreign says why what was sent is not what its token is for; "": it is.
func (c *Client) foreign(ev event, p proof) string {
	switch {
	case ev.Channel != channelID:
		return "it is of another network than Teams"
	case !slices.Contains(p.endorsements, channelID):
		return "its key does not speak for Teams"
	case strings.TrimRight(ev.Service, "/") != strings.TrimRight(p.service, "/"):
		return "it names another service than its token"
	case !isService(ev.Service):
		return "it names a service that is not Microsoft's for Teams"
	}
	return ""
}

// ours reports whether an event is of the bot's organisation, where it has one.
func (c *Client) ours(ev event) bool {
	tenant := ev.Data.Tenant.ID
	if tenant == "" {
		tenant = ev.Conversation.Tenant
	}
	return c.tenant == "" || strings.EqualFold(tenant, c.tenant)
}

// event is what the Bot Connector tells of.
type event struct {
	Type         string       `json:"type"`
	Name         string       `json:"name"` // of an invoke
	ID           string       `json:"id"`
	Time         string       `json:"timestamp"`
	Service      string       `json:"serviceUrl"`
	Channel      string       `json:"channelId"`
	From         person       `json:"from"`
	Recipient    person       `json:"recipient"`
	Conversation conversation `json:"conversation"`
	Text         string       `json:"text"`
	ReplyTo      string       `json:"replyToId"`
	Entities     []struct {
		Type      string `json:"type"`
		Mentioned person `json:"mentioned"`
		Text      string `json:"text"`
	} `json:"entities"`
	Attachments []inFile        `json:"attachments"`
	Value       json.RawMessage `json:"value"`
	Added       []reaction      `json:"reactionsAdded"`
	Removed     []reaction      `json:"reactionsRemoved"`
	Data        channelData     `json:"channelData"`
}

type person struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Object string `json:"aadObjectId"`
	Role   string `json:"role"`
}

// stable is the id that an organisation's directory has of somebody, and that no other
// gets; else what Teams calls them.
func (p person) stable() string {
	if msteams.IsGUID(p.Object) {
		return strings.ToLower(p.Object)
	}
	return p.ID
}

type conversation struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Kind   string `json:"conversationType"` // personal, groupChat, channel
	Tenant string `json:"tenantId"`
}

type channelData struct {
	Event  string `json:"eventType"` // editMessage, undeleteMessage, softDeleteMessage
	Tenant struct {
		ID string `json:"id"`
	} `json:"tenant"`
	Team struct {
		Name string `json:"name"`
	} `json:"team"`
	Channel struct {
		Name string `json:"name"`
	} `json:"channel"`
}

type inFile struct {
	Type    string          `json:"contentType"`
	URL     string          `json:"contentUrl"`
	Name    string          `json:"name"`
	Content json.RawMessage `json:"content"`
}

type reaction struct {
	Type string `json:"type"`
}
