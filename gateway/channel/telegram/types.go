package telegram

import "encoding/json"

// The parts of Telegram's objects that are used here. Names are the API's.

type update struct {
	ID          int64     `json:"update_id"`
	Message     *message  `json:"message"`
	ChannelPost *message  `json:"channel_post"`
	Edited      *message  `json:"edited_message"`
	EditedPost  *message  `json:"edited_channel_post"`
	Callback    *callback `json:"callback_query"`
	Reacted     *reacted  `json:"message_reaction"`

	Connected       *connection      `json:"business_connection"`
	BusinessMessage *message         `json:"business_message"`
	EditedBusiness  *message         `json:"edited_business_message"`
	DeletedBusiness *deletedMessages `json:"deleted_business_messages"`
}

type user struct {
	ID        int64  `json:"id"`
	IsBot     bool   `json:"is_bot"`
	FirstName string `json:"first_name"`
	LastName  string `json:"last_name"`
	Username  string `json:"username"`
}

type chat struct {
	ID        int64  `json:"id"`
	Type      string `json:"type"` // private, group, supergroup, channel
	Title     string `json:"title"`
	Username  string `json:"username"`
	FirstName string `json:"first_name"`
	LastName  string `json:"last_name"`
	IsForum   bool   `json:"is_forum"`
}

type entity struct {
	Type   string `json:"type"`
	Offset int    `json:"offset"` // UTF-16 units
	Length int    `json:"length"`
	User   *user  `json:"user"`
}

type message struct {
	ID         int64    `json:"message_id"`
	ThreadID   int64    `json:"message_thread_id"`
	IsTopic    bool     `json:"is_topic_message"`
	From       *user    `json:"from"`
	SenderChat *chat    `json:"sender_chat"`
	Signature  string   `json:"author_signature"`
	Date       int64    `json:"date"`
	Chat       chat     `json:"chat"`
	ReplyTo    *message `json:"reply_to_message"`
	Quote      *quote   `json:"quote"`
	Album      string   `json:"media_group_id"`

	// Set in chats of people who have Telegram Business.
	ConnectionID string `json:"business_connection_id"`
	ByBot        *user  `json:"sender_business_bot"`

	// Set when somebody passed it on.
	ForwardOrigin *origin `json:"forward_origin"`
	ForwardFrom   *user   `json:"forward_from"`
	ForwardChat   *chat   `json:"forward_from_chat"`
	ForwardName   string  `json:"forward_sender_name"`
	ForwardDate   int64   `json:"forward_date"`
	AutoForward   bool    `json:"is_automatic_forward"`

	Text            string   `json:"text"`
	Entities        []entity `json:"entities"`
	Caption         string   `json:"caption"`
	CaptionEntities []entity `json:"caption_entities"`

	Photo     []file `json:"photo"`
	Document  *file  `json:"document"`
	Voice     *file  `json:"voice"`
	Audio     *file  `json:"audio"`
	Video     *file  `json:"video"`
	VideoNote *file  `json:"video_note"`
	Animation *file  `json:"animation"`
	Sticker   *file  `json:"sticker"`

	Location *location `json:"location"`
	Venue    *venue    `json:"venue"`
	Contact  *contact  `json:"contact"`
	Poll     *poll     `json:"poll"`
	Dice     *dice     `json:"dice"`

	// Set when a topic was made: every first message of a topic "answers" it.
	TopicCreated json.RawMessage `json:"forum_topic_created"`
}

type quote struct {
	Text string `json:"text"`
}

type file struct {
	ID       string `json:"file_id"`
	UniqueID string `json:"file_unique_id"`
	Size     int64  `json:"file_size"`
	MIME     string `json:"mime_type"`
	Name     string `json:"file_name"`
	Path     string `json:"file_path"` // getFile only
	Emoji    string `json:"emoji"`     // stickers
	Animated bool   `json:"is_animated"`
	IsVideo  bool   `json:"is_video"`
	Still    *file  `json:"thumbnail"` // a picture of what moves
}

type location struct {
	Latitude  float64 `json:"latitude"`
	Longitude float64 `json:"longitude"`
}

type venue struct {
	Title   string `json:"title"`
	Address string `json:"address"`
}

type contact struct {
	Phone     string `json:"phone_number"`
	FirstName string `json:"first_name"`
	LastName  string `json:"last_name"`
}

type poll struct {
	Question string       `json:"question"`
	Options  []pollOption `json:"options"`
}

type dice struct {
	Emoji string `json:"emoji"`
	Value int    `json:"value"`
}

type webhookInfo struct {
	URL           string `json:"url"`
	Pending       int    `json:"pending_update_count"`
	LastErrorDate int64  `json:"last_error_date"`
	LastError     string `json:"last_error_message"`
}

// What we send.

type replyParameters struct {
	MessageID    int64 `json:"message_id"`
	AllowMissing bool  `json:"allow_sending_without_reply"`
}

type linkPreview struct {
	Disabled bool `json:"is_disabled"`
}

type sendMessage struct {
	ConnID    string           `json:"business_connection_id,omitempty"`
	ChatID    string           `json:"chat_id"`
	ThreadID  int64            `json:"message_thread_id,omitempty"`
	Text      string           `json:"text"`
	ParseMode string           `json:"parse_mode,omitempty"`
	Reply     *replyParameters `json:"reply_parameters,omitempty"`
	// An agent's link must not make Telegram fetch it: its address may carry
	// what the agent has read.
	Preview linkPreview `json:"link_preview_options"`
	Buttons *keyboard   `json:"reply_markup,omitempty"`
	Quiet   bool        `json:"disable_notification,omitempty"`
}

type editMessage struct {
	ConnID    string      `json:"business_connection_id,omitempty"`
	ChatID    string      `json:"chat_id"`
	MessageID int64       `json:"message_id"`
	Text      string      `json:"text"`
	ParseMode string      `json:"parse_mode,omitempty"`
	Preview   linkPreview `json:"link_preview_options"`
}

type messageRef struct {
	ChatID    string `json:"chat_id"`
	MessageID int64  `json:"message_id"`
}

type chatAction struct {
	ConnID   string `json:"business_connection_id,omitempty"`
	ChatID   string `json:"chat_id"`
	ThreadID int64  `json:"message_thread_id,omitempty"`
	Action   string `json:"action"`
}

type emojiReaction struct {
	Type  string `json:"type"`
	Emoji string `json:"emoji"`
}

type setReaction struct {
	messageRef
	Reaction []emojiReaction `json:"reaction"`
}

type getUpdates struct {
	Offset  int64    `json:"offset,omitempty"`
	Limit   int      `json:"limit"`
	Timeout int      `json:"timeout"`
	Allowed []string `json:"allowed_updates"`
}

type setWebhook struct {
	URL            string   `json:"url"`
	Secret         string   `json:"secret_token"`
	MaxConnections int      `json:"max_connections"`
	Allowed        []string `json:"allowed_updates"`
}
