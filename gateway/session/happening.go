package session

// Happening is something that happened to a conversation, in the words in which
// hooks are told of it: Type "command" and Action "new", say.
type Happening struct {
	Type, Action string
	SessionKey   string
	Route        string         // where words about it go; "": into the conversation
	Others       bool           // words in it may be of others than the owner
	Facts        map[string]any // what hooks are told beside it
}

// Listener hears what happens to conversations, after it is durable where it is. It
// must not block.
type Listener interface{ Hear(Happening) }

// Happened tells the listeners.
func (m *Manager) Happened(h Happening) {
	for _, l := range m.listeners {
		l.Hear(h)
	}
}

// compacting tells that a summary is about to be made.
func (m *Manager) compacting(row Row, turns []turn) {
	n := 0
	for _, t := range turns {
		n += len(t)
	}
	m.Happened(Happening{Type: "session", Action: "compact:before", SessionKey: row.Key, Facts: map[string]any{
		"sessionId": row.SessionID, "missingSessionKey": false, "messageCount": n, "tokenCount": row.Used,
		"messageCountOriginal": row.Messages, "tokenCountOriginal": row.Used,
	}})
}

// compacted tells that one stands now.
func (m *Manager) compacted(before, after Row, c Compaction) {
	m.Happened(Happening{Type: "session", Action: "compact:after", SessionKey: after.Key, Facts: map[string]any{
		"sessionId": after.SessionID, "missingSessionKey": false, "messageCount": after.Messages, "compactedCount": c.Entries,
		"summaryLength": len(c.Summary), "tokensBefore": before.Used, "tokensAfter": after.Used, "tokenCount": after.Used,
	}})
}
