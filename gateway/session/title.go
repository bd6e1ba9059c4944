package session

import (
	"context"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/store"
	"github.com/hearth-assistant/hearth/internal/text"
)

// Beginning is what a conversation began with, for naming it.
type Beginning struct {
	SessionID string
	Asked     string    // the first message that is no command
	Answer    string    // to it
	By        model.Ref // that answered last
	Messages  int
}

// Untitled tells how a conversation of the gateway's own clients began that has only
// its first words for a title. ok is false when somebody named it, it has a title, it
// comes from elsewhere, or nothing was answered yet.
func (m *Manager) Untitled(key string) (b Beginning, ok bool, err error) {
	err = m.DB.View(func(tx *store.Tx) error {
		row, found, err := m.t.sessions.Get(tx, []byte(key))
		if err != nil || !found || row.Label != "" || row.Titled || row.Origin != nil || row.From != "" {
			return err
		}
		b = Beginning{SessionID: row.SessionID, Messages: row.Messages}
		b.By, _ = model.ParseRef(row.LastModel)
		for e, err := range m.t.scan(tx, row.SessionID, row.Path, 0, 0, false) {
			if err != nil {
				return err
			}
			msg := e.Value
			switch {
			case msg.ExcludeFromContext || msg.Text() == "":
			case msg.Role == protocol.MessageUser && b.Asked == "":
				b.Asked = msg.Text()
			case msg.Role == protocol.MessageAssistant && b.Asked != "":
				b.Answer, ok = msg.Text(), b.By.Model != ""
				return nil
			}
		}
		return nil
	})
	return b, ok, err
}

// SetTitle says what a conversation is about, if nobody named it meanwhile and it is
// still that one. It does not count as use.
func (m *Manager) SetTitle(ctx context.Context, key, sessionID, title string) error {
	_, err := m.edit(ctx, key, "patch", false, func(r *Row) error {
		if r.Label != "" || r.Titled || r.SessionID != sessionID {
			return notFound(key)
		}
		r.Title, r.Titled = clip(title, 60), true
		return nil
	})
	return err
}

// firstWords is the title of a conversation that nobody named: the first five words
// of its first message, or less where they are long or nothing is between them.
func firstWords(s string) string {
	const words, width = 5, 40
	all := strings.Fields(text.Prefix(s, 1<<10))
	if len(all) > words {
		all = append(all[:words-1], all[words-1]+"…")
	}
	return text.Ellipsis(text.Line(strings.Join(all, " ")), width)
}
