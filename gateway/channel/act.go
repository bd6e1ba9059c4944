package channel

import (
	"context"
	"time"
)

// Abilities that an assistant uses when it is told to.
type (
	// Poller asks everybody in a conversation a question of the network's own kind.
	Poller interface {
		Poll(ctx context.Context, to Target, p Poll) (Receipt, error)
	}
	// Pinner keeps a message at the top of its conversation, or lets it go.
	Pinner interface {
		Pin(ctx context.Context, to Target, messageID string, on bool) error
	}
	// Menu shows commands where people write; the list takes the place of the one before,
	// in all languages. An empty one leaves no menu.
	Menu interface {
		Menu(ctx context.Context, commands []Command) error
	}
	// Reader reads what was said in a conversation before, the newest last; before
	// is the id of a message, "" for the newest.
	Reader interface {
		Read(ctx context.Context, to Target, before string, limit int) ([]Past, error)
	}
	// Searcher lets the network look for words in all of a conversation; the newest of
	// what it finds, in the order in which it was said. It is a Reader too.
	Searcher interface {
		Search(ctx context.Context, to Target, words string, limit int) ([]Past, error)
	}
)

// Command is one that people choose from a menu instead of typing it.
type Command struct {
	Name        string            // without a slash: small letters, digits, "_" and "-"
	Description string            // in English
	Local       map[string]string // the description in other languages: "de", "zh"
	Args        string            // what may stand behind it, for people; "" = nothing
}

// Poll is a question with answers that people choose from.
type Poll struct {
	Question string
	Options  []string
	Multiple bool          // one person may choose several
	Open     time.Duration // for how long; 0: as long as the network lets it
	Manner   Manner        // as in Message
	Key      string        // as in Message
}

// Past is a message that was said before.
type Past struct {
	MessageID  string
	SenderID   string
	SenderName string
	Text       string
	At         time.Time
}

// Reaction is an emoji that somebody put on a message or took away. Its zero value is
// none.
type Reaction struct {
	MessageID string
	Emoji     string // as people see it, or the network's own name for it
	Removed   bool
	// Ours: the network says that the message is ours. It need not be able to.
	Ours bool
}

// Reacted reports whether somebody did.
func (r Reaction) Reacted() bool { return r.Emoji != "" }
