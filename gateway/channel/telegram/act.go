package telegram

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/internal/text"
)

// Telegram's limits of a poll.
const (
	maxQuestion  = 300
	maxOption    = 100
	maxOptions   = 12
	longestPoll  = 600 * time.Second
	shortestPoll = 5 * time.Second
)

type pollOption struct {
	Text string `json:"text"`
}

type sendPoll struct {
	ConnID     string       `json:"business_connection_id,omitempty"`
	ChatID     string       `json:"chat_id"`
	ThreadID   int64        `json:"message_thread_id,omitempty"`
	Question   string       `json:"question"`
	Options    []pollOption `json:"options"`
	Multiple   bool         `json:"allows_multiple_answers,omitempty"`
	OpenPeriod int          `json:"open_period,omitempty"`
	Anonymous  *bool        `json:"is_anonymous,omitempty"` // true without it
	Quiet      bool         `json:"disable_notification,omitempty"`
}

// Poll sends a poll. Telegram closes one by itself within ten minutes or not at all.
func (c *Channel) Poll(ctx context.Context, to channel.Target, p channel.Poll) (channel.Receipt, error) {
	at, err := parseTarget(to)
	if err != nil {
		return channel.Receipt{}, err
	}
	switch n := utf16Len(p.Question); {
	case n == 0 || n > maxQuestion:
		return channel.Receipt{}, fmt.Errorf("%w: the question of a Telegram poll has 1 to %d characters", channel.ErrRefused, maxQuestion)
	case len(p.Options) < 2 || len(p.Options) > maxOptions:
		return channel.Receipt{}, fmt.Errorf("%w: a Telegram poll has 2 to %d answers", channel.ErrRefused, maxOptions)
	case p.Open != 0 && (p.Open < shortestPoll || p.Open > longestPoll):
		return channel.Receipt{}, fmt.Errorf("%w: Telegram closes a poll by itself after 5 seconds to 10 minutes, or never", channel.ErrRefused)
	}
	if err := c.mayReply(ctx, at); err != nil {
		return channel.Receipt{}, err
	}
	req := sendPoll{ConnID: at.conn, ChatID: at.chat, ThreadID: at.topic(), Question: p.Question, Multiple: p.Multiple,
		OpenPeriod: int(p.Open / time.Second), Quiet: p.Manner.Silent}
	if p.Manner.Public {
		req.Anonymous = new(false)
	}
	for _, o := range p.Options {
		if n := utf16Len(o); n == 0 || n > maxOption {
			return channel.Receipt{}, fmt.Errorf("%w: an answer of a Telegram poll has 1 to %d characters", channel.ErrRefused, maxOption)
		}
		req.Options = append(req.Options, pollOption{o})
	}
	var sent message
	if err := c.api.once(ctx, callTimeout, "sendPoll", req, &sent); err != nil {
		return channel.Receipt{}, err
	}
	return channel.Receipt{MessageID: strconv.FormatInt(sent.ID, 10)}, nil
}

type pinMessage struct {
	messageRef
	ConnID string `json:"business_connection_id,omitempty"`
	Quiet  bool   `json:"disable_notification,omitempty"`
}

// Pin pins a message without calling everybody, or lets it go.
func (c *Channel) Pin(ctx context.Context, to channel.Target, messageID string, on bool) error {
	p, err := parseTarget(to)
	if err != nil {
		return err
	}
	id, err := messageNumber(messageID)
	if err != nil {
		return err
	}
	ref := messageRef{ChatID: p.chat, MessageID: id}
	if !on {
		return c.api.call(ctx, "unpinChatMessage", pinMessage{messageRef: ref, ConnID: p.conn}, nil)
	}
	return c.api.call(ctx, "pinChatMessage", pinMessage{messageRef: ref, ConnID: p.conn, Quiet: true}, nil)
}

// Telegram's limits of a menu.
const (
	maxCommands    = 100
	maxDescription = 256
)

type botCommand struct {
	Command     string `json:"command"`
	Description string `json:"description"`
}

type setCommands struct {
	Commands []botCommand `json:"commands"`
	Language string       `json:"language_code,omitempty"`
}

type deleteCommands struct {
	Language string `json:"language_code,omitempty"`
}

// menuLanguages are those in which there may be a menu of ours from before.
func menuLanguages() []string { return []string{"", "de", "zh"} }

// Menu sets the commands that people see behind the button beside the text field, for
// everybody and once more for each language. A name that Telegram does not take stands
// in no menu; typing it works. Who has a menu in their language sees that one alone, so
// one that is not needed any more is deleted.
func (c *Channel) Menu(ctx context.Context, commands []channel.Command) error {
	languages, needed := menuLanguages(), map[string]bool{"": len(commands) > 0}
	for _, cmd := range commands {
		for l := range cmd.Local {
			needed[l] = true
			if !slices.Contains(languages, l) {
				languages = append(languages, l)
			}
		}
	}
	slices.Sort(languages)
	for _, l := range languages {
		if !needed[l] {
			if err := c.api.call(ctx, "deleteMyCommands", deleteCommands{l}, nil); err != nil {
				return err
			}
			continue
		}
		list := setCommands{Commands: []botCommand{}, Language: l}
		for _, cmd := range commands {
			words := text.Ellipsis(oneLineOf(cmp.Or(cmd.Local[l], cmd.Description)), maxDescription-1)
			if menuName(cmd.Name) && words != "" && len(list.Commands) < maxCommands {
				list.Commands = append(list.Commands, botCommand{cmd.Name, words})
			}
		}
		if err := c.api.call(ctx, "setMyCommands", list, nil); err != nil {
			return err
		}
	}
	return nil
}

func menuName(s string) bool {
	return len(s) >= 1 && len(s) <= 32 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789_") == ""
}
