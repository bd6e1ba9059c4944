package protocol

// SessionsSearchParams looks for words in all messages: every word must be in
// the message, the last one may be the beginning of a word.
type SessionsSearchParams struct {
	Query   string `json:"query"`
	Limit   int    `json:"limit,omitempty"` // default 20, most 200
	Key     string `json:"key,omitempty"`   // only this session
	AgentID string `json:"agentId,omitempty"`
}

// SessionsSearch is the newest messages that hold the words.
type SessionsSearch struct {
	Query   string      `json:"query"`
	Results []SearchHit `json:"results"`
	HasMore bool        `json:"hasMore"`
	// Indexing says that older messages are still being taken up.
	Indexing bool `json:"indexing,omitempty"`
}

// SearchHit is one message. Ranges are the words in the snippet: begin and end
// in UTF-16 units. A hit of a transcript that was reset has another SessionID
// than its session has now.
type SearchHit struct {
	SessionKey string   `json:"sessionKey"`
	SessionID  string   `json:"sessionId"`
	Title      string   `json:"title,omitempty"`
	MessageID  string   `json:"messageId"`
	Seq        int64    `json:"seq"`
	Role       string   `json:"role"`
	Timestamp  int64    `json:"timestamp"`
	Snippet    string   `json:"snippet"`
	Score      float64  `json:"score"` // how often the words are in it, the first few times; the order is by time
	Ranges     [][2]int `json:"ranges"`
}
