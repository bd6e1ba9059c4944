package telegram

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/internal/sleep"
)

const (
	pollSeconds = 25
	// pollLimit is when a silent poll is given up and begun again. Telegram
	// answers after pollSeconds even when there is nothing to say.
	pollLimit = (pollSeconds + 15) * time.Second

	firstWait = time.Second
	maxWait   = 30 * time.Second

	hookCheck = time.Minute
)

// Run receives until ctx ends. It returns an error when the token is not
// accepted; everything else is tried again, and Status says so.
func (c *Channel) Run(ctx context.Context, inbox channel.Inbox) error {
	c.mu.Lock()
	if c.running {
		c.mu.Unlock()
		return errors.New("this Telegram account is already receiving")
	}
	c.running = true
	c.mu.Unlock()
	c.setState(channel.Starting, "")
	err := c.receive(ctx, inbox)
	if ctx.Err() != nil {
		err = nil
	}
	if err != nil {
		c.setState(channel.Failed, err.Error())
	} else {
		c.setState(channel.Stopped, "")
	}
	c.mu.Lock()
	c.running = false
	c.mu.Unlock()
	return err
}

func (c *Channel) receive(ctx context.Context, inbox channel.Inbox) error {
	if err := c.identify(ctx); err != nil {
		return err
	}
	if c.hook != nil {
		return c.hook.run(ctx, inbox)
	}
	if err := c.leaveWebhook(ctx); err != nil {
		return err
	}
	return c.poll(ctx, inbox)
}

// identify asks who we are, which also proves the token.
func (c *Channel) identify(ctx context.Context) error {
	return c.persist(ctx, func() error {
		var me user
		if err := c.api.call(ctx, "getMe", struct{}{}, &me); err != nil {
			return err
		}
		c.mu.Lock()
		c.me, c.status.Bot = me, me.Username
		c.mu.Unlock()
		return nil
	})
}

// leaveWebhook: while an address is set Telegram answers no poll. What waits
// for it is kept.
func (c *Channel) leaveWebhook(ctx context.Context) error {
	return c.persist(ctx, func() error {
		var info webhookInfo
		if err := c.api.call(ctx, "getWebhookInfo", struct{}{}, &info); err != nil || info.URL == "" {
			return err
		}
		c.log.Warn("this Telegram bot was set to deliver to a web address; that is switched off because Hearth asks for messages itself", "host",
			hostOf(info.URL))
		return c.api.call(ctx, "deleteWebhook", map[string]bool{"drop_pending_updates": false}, nil)
	})
}

// persist repeats what fails in passing and stops at what never works.
func (c *Channel) persist(ctx context.Context, try func() error) error {
	wait := firstWait
	for {
		err := try()
		if err == nil || ctx.Err() != nil || errors.Is(err, channel.ErrAuth) || errors.Is(err, channel.ErrRefused) {
			return err
		}
		c.trouble(err)
		if sleep.For(ctx, delay(err, &wait)) != nil {
			return ctx.Err()
		}
	}
}

// trouble notes a passing failure; the same one is logged once.
func (c *Channel) trouble(err error) {
	state, problem := channel.Waiting, err.Error()
	if conflict(err) {
		state = channel.Conflict
		problem = "another program receives the messages of this Telegram bot, and Telegram gives them to one only. Stop the other program, " +
			"or make a bot of its own for Hearth with @BotFather. Hearth keeps trying"
	}
	if old := c.Status(); old.State != state || old.Problem != problem {
		c.log.Warn("Telegram: no messages for now", "state", string(state), "problem", problem)
	}
	c.setState(state, problem)
}

func conflict(err error) bool {
	var e *apiError
	return errors.As(err, &e) && e.status == http.StatusConflict
}

// delay is how long to wait: what Telegram asks for, else twice the last time.
func delay(err error, wait *time.Duration) time.Duration {
	var limit *channel.RateLimit
	if errors.As(err, &limit) {
		return limit.After
	}
	d := *wait
	*wait = min(2*d, maxWait)
	return d
}

// poll asks for updates. Asking from the number after an update tells Telegram
// that all before were taken, so the offset moves only after inbox took the
// message; what a crash leaves behind comes again.
func (c *Channel) poll(ctx context.Context, inbox channel.Inbox) error {
	var offset int64
	wait := firstWait
	patience := 0 // the first question, and that after a failure, is answered at once
	for ctx.Err() == nil {
		var page []json.RawMessage
		err := repeatable(c.api.once(ctx, pollLimit, "getUpdates",
			getUpdates{Offset: offset, Limit: 100, Timeout: patience, Allowed: wanted()}, &page))
		if err == nil {
			c.polled()
			before := offset
			offset, err = c.deliver(ctx, page, offset, inbox)
			if err == nil && len(page) > 0 && offset == before {
				err = errors.New("Telegram repeats messages that were taken already") // do not ask in a circle
			}
		}
		switch {
		case ctx.Err() != nil:
			return nil
		case err == nil:
			c.answered()
			wait, patience = firstWait, pollSeconds
		case errors.Is(err, channel.ErrAuth):
			return err
		default:
			c.trouble(err)
			patience = 0
			if sleep.For(ctx, delay(err, &wait)) != nil {
				return nil
			}
		}
	}
	return nil
}

func (c *Channel) polled() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.status.LastPoll = c.now()
}

// answered: the round trip works.
func (c *Channel) answered() {
	if c.Status().State != channel.Receiving {
		c.log.Info("Telegram: receiving messages", "bot", c.bot().Username)
	}
	c.setState(channel.Receiving, "")
	c.polled()
}

// deliver hands a page to inbox, oldest first, and returns the offset that
// confirms what was taken. It stops at the first message that was not.
func (c *Channel) deliver(ctx context.Context, page []json.RawMessage, offset int64, inbox channel.Inbox) (int64, error) {
	for _, raw := range page {
		u, ok := parseUpdate(raw)
		if !ok {
			continue // one that has no number cannot be confirmed or named
		}
		if u.ID < offset {
			continue // came twice
		}
		if err := c.hand(ctx, u, inbox); err != nil {
			return offset, err
		}
		offset = u.ID + 1
	}
	return offset, nil
}

// parseUpdate reads an update. One whose message cannot be read keeps its
// number, so that it is passed over and does not come for ever.
func parseUpdate(raw json.RawMessage) (update, bool) {
	var u update
	if err := json.Unmarshal(raw, &u); err != nil {
		var id struct {
			ID int64 `json:"update_id"`
		}
		if json.Unmarshal(raw, &id) != nil {
			return update{}, false
		}
		u = update{ID: id.ID}
	}
	return u, u.ID > 0
}

func (c *Channel) hand(ctx context.Context, u update, inbox channel.Inbox) error {
	all, err := c.messagesOf(ctx, u)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		c.log.Debug("Telegram: an update without a message was passed over", "update", u.ID)
		return nil
	}
	for _, in := range all {
		if err := inbox(ctx, in); err != nil {
			return fmt.Errorf("a message could not be stored; Telegram keeps it and it is tried again: %w", err)
		}
	}
	c.mu.Lock()
	c.status.LastTake = c.now()
	c.mu.Unlock()
	return nil
}

// messagesOf is what somebody said with an update.
func (c *Channel) messagesOf(ctx context.Context, u update) ([]channel.Inbound, error) {
	if u.Connected != nil || u.BusinessMessage != nil || u.EditedBusiness != nil || u.DeletedBusiness != nil {
		return c.onBehalf(ctx, u)
	}
	if q := u.Callback; q != nil && q.Message != nil && q.Message.ConnectionID != "" {
		if _, err := c.connection(ctx, q.Message.ConnectionID); err != nil {
			return nil, fmt.Errorf("ask Telegram for whom a button was pressed: %w", err)
		}
	}
	in, ok := c.inbound(u)
	if !ok {
		return nil, nil
	}
	return []channel.Inbound{in}, nil
}
