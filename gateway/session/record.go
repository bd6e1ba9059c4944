package session

import (
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// Row is what is kept of a session beside its transcript.
type Row struct {
	Key         string         `json:"key"`
	SessionID   string         `json:"sessionId"` // a UUID; a reset gives a new one
	AgentID     string         `json:"agentId"`
	CreatedAt   int64          `json:"createdAt"`
	UpdatedAt   int64          `json:"updatedAt"`
	Label       string         `json:"label,omitempty"`
	Title       string         `json:"title,omitempty"`   // from the first message, or what it is about
	Titled      bool           `json:"titled,omitempty"`  // the title says what it is about, not its first words
	Preview     string         `json:"preview,omitempty"` // of the last message
	Model       string         `json:"model,omitempty"`   // a choice as older versions kept it, "provider/model"
	Override    Override       `json:"override,omitzero"` // which model and account answer
	Choices     int            `json:"choices,omitempty"` // how often the person selected a model
	Fallback    *Fallback      `json:"fallback,omitempty"`
	Thinking    string         `json:"thinking,omitempty"`
	Verbose     string         `json:"verbose,omitempty"`   // on, full; "" = off
	Reasoning   string         `json:"reasoning,omitempty"` // on, stream; "" = off
	Send        string         `json:"send,omitempty"`      // on, off; "" = by the rules
	Pinned      bool           `json:"pinned,omitempty"`
	Archived    bool           `json:"archived,omitempty"`
	ArchivedAt  int64          `json:"archivedAt,omitempty"`
	Folder      string         `json:"folder,omitempty"`      // that an editor works in
	Path        Path           `json:"path,omitempty"`        // the branch of the transcript that is in use; nil: it has only one
	Put         []Put          `json:"putAway,omitempty"`     // summaries of other branches
	Category    string         `json:"category,omitempty"`    // the folder of the list that it is in
	From        string         `json:"from,omitempty"`        // the program whose words it holds: others may have written them
	Compaction  *Compaction    `json:"compaction,omitempty"`  // the summary in force
	Compactions int            `json:"compactions,omitempty"` // how many there were
	NextTurn    uint64         `json:"nextTurn"`
	Messages    int            `json:"messages"`
	Usage       model.Usage    `json:"usage"`
	Queue       *QueueOverride `json:"queue,omitempty"` // set with /queue
	Origin      *Origin        `json:"origin,omitempty"`
	Places      []Place        `json:"places,omitempty"`    // where the owner wrote from in direct chats, the newest last
	Dock        *Place         `json:"dock,omitempty"`      // where answers to the owner go instead; nil: where they wrote
	LastModel   string         `json:"lastModel,omitempty"` // that answered last
	Window      int            `json:"window,omitempty"`    // of that model, in tokens; 0 = not known
	Used        int            `json:"used,omitempty"`      // tokens of it that the conversation takes
	Aborted     bool           `json:"aborted,omitempty"`   // the last run was stopped
	LastRun     string         `json:"lastRun,omitempty"`   // that ended last
}

// WhenArchived is when a session was archived, 0 when it is not.
func (r Row) WhenArchived() int64 {
	if !r.Archived {
		return 0
	}
	return cmp.Or(r.ArchivedAt, r.UpdatedAt) // earlier versions did not keep it
}

// Origin explains where a session's messages come from.
type Origin struct {
	Label     string `json:"label,omitempty"`
	Provider  string `json:"provider,omitempty"`
	From      string `json:"from,omitempty"`
	To        string `json:"to,omitempty"`
	AccountID string `json:"accountId,omitempty"`
	ThreadID  string `json:"threadId,omitempty"`
	Room      string `json:"room,omitempty"`     // as its network calls it, "#town"
	Space     string `json:"space,omitempty"`    // that the room is in
	ChatType  string `json:"chatType,omitempty"` // direct, group, channel
	Sender    string `json:"sender,omitempty"`   // what the last sender calls themselves
}

// subject is what the group of a conversation is called, and which of its topics
// is meant; "" where it is no group's.
func (r Row) subject() string {
	o := r.Origin
	switch {
	case o == nil || o.ChatType == "direct" || o.Label == "":
		return ""
	case o.ThreadID != "":
		return o.Label + " #" + o.ThreadID
	}
	return o.Label
}

// RunState is where a run is in its life.
type RunState string

const (
	RunQueued      RunState = "queued"
	RunClaimed     RunState = "claimed"
	RunAnswered    RunState = "answered"
	RunFailed      RunState = "failed"
	RunAborted     RunState = "aborted"
	RunInterrupted RunState = "interrupted"
	RunDropped     RunState = "dropped"
)

// Ended reports whether nothing more will happen to the run.
func (s RunState) Ended() bool { return s != RunQueued && s != RunClaimed }

// Receipt is how the state of a run shows on the person's message.
func (s RunState) Receipt() protocol.ReceiptState {
	switch s {
	case RunQueued:
		return protocol.ReceiptAccepted
	case RunClaimed:
		return protocol.ReceiptAnswering
	default:
		return protocol.ReceiptState(s)
	}
}

// Run is the durable record of one turn. Its ID is the client's idempotency
// key, so the record is the idempotency record too and is kept.
type Run struct {
	ID            string   `json:"id"`
	SessionKey    string   `json:"sessionKey"`
	SessionID     string   `json:"sessionId"`
	Turn          uint64   `json:"turn"`
	Again         string   `json:"again,omitempty"` // id of the entry in whose place it was said
	Accept        uint64   `json:"accept"`          // place in the order of acceptance
	Digest        string   `json:"digest"`          // of key and text: the same id with other words is a conflict
	State         RunState `json:"state"`
	Epoch         string   `json:"epoch,omitempty"` // boot that claimed it
	Attempt       int      `json:"attempt,omitempty"`
	Model         string   `json:"model,omitempty"`
	Hints         Hints    `json:"hints,omitzero"`    // what the message asks for beside its words
	Outside       bool     `json:"outside,omitempty"` // somebody else's words or files came with the message
	Mode          Mode     `json:"mode,omitempty"`
	Route         string   `json:"route,omitempty"`         // where the words came from; turns of one route may be answered together
	Deliver       string   `json:"deliver,omitempty"`       // where the answer goes; "": to Route
	Docked        bool     `json:"docked,omitempty"`        // because the owner said so of the conversation (Row.Dock)
	Owner         bool     `json:"owner,omitempty"`         // the words are the owner's own
	AwaitModel    bool     `json:"awaitModel,omitempty"`    // it waits until a model was chosen
	Sender        string   `json:"sender,omitempty"`        // who said them on the route
	ReplyTo       string   `json:"replyTo,omitempty"`       // the message on the route that is answered
	QuoteSelected bool     `json:"quoteSelected,omitempty"` // a part of that message was chosen
	Relay         Relay    `json:"relay,omitzero"`          // set when another session sent the words
	Into          string   `json:"into,omitempty"`          // the run that answers this message too
	AnswerTurn    uint64   `json:"answerTurn,omitempty"`    // where the answer stands, when it is another turn
	TimeoutMs     int64    `json:"timeoutMs,omitempty"`
	AcceptedAt    int64    `json:"acceptedAt"`
	StartedAt     int64    `json:"startedAt,omitempty"`
	EndedAt       int64    `json:"endedAt,omitempty"`
	AnsweredBy    string   `json:"answeredBy,omitempty"` // "provider/model"
	Stop          string   `json:"stop,omitempty"`
	ErrorKind     string   `json:"errorKind,omitempty"`
	ErrorText     string   `json:"errorText,omitempty"`
	Detail        string   `json:"detail,omitempty"`  // of a failure, for who wants it raw
	RetryAt       int64    `json:"retryAt,omitempty"` // of a failure: when its service may be asked again, 0: nobody knows
	Trace         []Reason `json:"trace,omitempty"`   // why it went as it did
	Terms         *Terms   `json:"terms,omitempty"`
}

// Terms are what whoever began a run by itself, such as a job, set for it.
type Terms struct {
	Fallbacks []string `json:"fallbacks"`         // "provider/model", in the place of the configured ones; empty: none, nil: as configured
	MaxCost   float64  `json:"maxCost,omitempty"` // of its model calls: beyond it none is made
	Light     bool     `json:"light,omitempty"`   // without the workspace's files
}

// Relay says which session sent words, and how many sessions passed something
// on before since a person last spoke.
type Relay struct {
	From string `json:"from,omitempty"` // session key
	Tool string `json:"tool,omitempty"`
	Hops int    `json:"hops,omitempty"`
}

// Hints are a model and levels that a message asks for, for its own answer only;
// "" leaves what the session has.
type Hints struct {
	Model     string `json:"model,omitempty"` // "provider/model", may name an account
	Thinking  string `json:"thinking,omitempty"`
	Verbose   string `json:"verbose,omitempty"`
	Reasoning string `json:"reasoning,omitempty"`
}

// levels says which levels they are.
func (h Hints) levels() string {
	var out []string
	for _, l := range []struct{ name, level string }{{"thinking", h.Thinking}, {"tool activity", h.Verbose}, {"reasoning", h.Reasoning}} {
		if l.level != "" {
			out = append(out, l.name+" "+l.level)
		}
	}
	return strings.Join(out, ", ")
}

// ownModel is the model that the run's message asks for, "" for the session's.
func (r Run) ownModel() string { return cmp.Or(r.Hints.Model, r.Model) }

// together: one run may answer both. Words of somebody else must not join a run
// that has the owner's rights, and words that ask for another model or level none
// that has not.
func (r Run) together(o Run) bool {
	return r.Route == o.Route && r.Deliver == o.Deliver && r.Owner == o.Owner &&
		(r.Relay.From == "") == (o.Relay.From == "") && r.Hints == o.Hints && r.Outside == o.Outside && r.Terms == nil && o.Terms == nil
}

// Reason is one step of why a run went as it did, for /why.
type Reason struct {
	At     int64            `json:"at"`
	Rule   protocol.WhyRule `json:"rule"`
	Detail string           `json:"detail"` // in plain words
}

// maxTrace bounds the reasons of one run.
const maxTrace = 20

// because adds a reason to the run.
func (m *Manager) because(rec *Run, rule protocol.WhyRule, format string, a ...any) {
	if len(rec.Trace) < maxTrace {
		rec.Trace = append(rec.Trace, Reason{At: m.nowMs(), Rule: rule, Detail: fmt.Sprintf(format, a...)})
	}
}

// partial is the checkpoint of an answer that is still being streamed.
type partial struct {
	Text string `json:"text"`
}

// The tables of this package.
type tables struct {
	sessions store.Bucket[Row]              // canonical key
	recent   store.Bucket[struct{}]         // inverted update time, canonical key
	past     store.Bucket[Past]             // canonical key, 0, session id
	gone     store.Bucket[Gone]             // session id
	entries  store.Bucket[protocol.Message] // session id, seq
	forks    store.Bucket[Fork]             // session id, turn
	runs     store.Bucket[Run]              // run id
	pending  store.Bucket[string]           // accept → run id, until the run has ended
	partials store.Bucket[partial]          // run id

	histories *histories // of entries
}

// The names of the tables that hold conversations, for reading a damaged store.
const (
	TableSessions = "sessions"
	TablePast     = "sessions.past"
	TableEntries  = "entries"
)

// RawID is a session's id as the keys of entries begin with it.
func RawID(sessionID string) (id [16]byte, ok bool) {
	raw, err := entryPrefix(sessionID)
	if err != nil {
		return id, false
	}
	return [16]byte(raw), true
}

func newTables() tables {
	return tables{
		sessions: store.NewBucket[Row](TableSessions),
		recent:   store.NewBucket[struct{}]("sessions.recent"),
		past:     store.NewBucket[Past](TablePast),
		gone:     store.NewBucket[Gone]("sessions.gone"),
		entries:  store.NewBucket[protocol.Message](TableEntries),
		forks:    store.NewBucket[Fork]("sessions.forks"),
		runs:     store.NewBucket[Run]("runs"),
		pending:  store.NewBucket[string]("runs.pending"),
		partials: store.NewBucket[partial]("runs.partial"),

		histories: newHistories(keptHistory),
	}
}

// Any reports whether a store holds a session.
func Any(db *store.DB) (found bool, err error) {
	err = db.View(func(tx *store.Tx) error {
		for _, err := range newTables().sessions.Scan(tx, store.Range{}) {
			found = err == nil
			return err
		}
		return nil
	})
	return found, err
}

// seqOf places step of a turn.
func seqOf(turn uint64, step int) uint64 { return turn<<16 | uint64(step) }

// entryKey is the session's 16 id bytes and the position.
func entryKey(sessionID string, seq uint64) ([]byte, error) {
	prefix, err := entryPrefix(sessionID)
	if err != nil {
		return nil, err
	}
	return binary.BigEndian.AppendUint64(prefix, seq), nil
}

func entryPrefix(sessionID string) ([]byte, error) {
	id, err := hex.DecodeString(strings.ReplaceAll(sessionID, "-", ""))
	if err != nil || len(id) != 16 {
		return nil, fmt.Errorf("session id %q is not a UUID", sessionID)
	}
	return id, nil
}

func recentKey(updatedAt int64, key string) []byte {
	return append(binary.BigEndian.AppendUint64(nil, ^uint64(updatedAt)), key...)
}

// putRow writes a session and keeps the index by time in step.
func (t *tables) putRow(tx *store.Tx, row Row) error {
	old, ok, err := t.sessions.Get(tx, []byte(row.Key))
	if err != nil {
		return err
	}
	if ok && old.UpdatedAt != row.UpdatedAt {
		if err := t.recent.Delete(tx, recentKey(old.UpdatedAt, row.Key)); err != nil {
			return err
		}
	}
	if err := t.recent.Put(tx, recentKey(row.UpdatedAt, row.Key), struct{}{}); err != nil {
		return err
	}
	return t.sessions.Put(tx, []byte(row.Key), row)
}

// putEntry writes a message at its position. Nothing else writes entries.
func (t *tables) putEntry(tx *store.Tx, sessionID string, m protocol.Message) error {
	key, err := entryKey(sessionID, uint64(m.Meta.Seq))
	if err != nil {
		return err
	}
	raw, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("write a message: %w", err)
	}
	tx.OnCommit(func() { t.histories.changed(sessionID, m.Meta.Seq, raw) })
	return t.entries.PutRaw(tx, key, raw)
}

// deleteEntries removes up to limit entries of a transcript and returns how many
// they were. Nothing else removes entries.
func (t *tables) deleteEntries(tx *store.Tx, sessionID string, limit int) (int, error) {
	prefix, err := entryPrefix(sessionID)
	if err != nil {
		return 0, err
	}
	tx.OnCommit(func() { t.histories.forget(sessionID) })
	if _, err := t.forks.DeleteRange(tx, store.Range{Prefix: prefix}, maxForks+1); err != nil {
		return 0, err
	}
	return t.entries.DeleteRange(tx, store.Range{Prefix: prefix}, limit)
}

// getEntry reads the message at a position.
func (t *tables) getEntry(tx *store.Tx, sessionID string, seq uint64) (protocol.Message, bool, error) {
	key, err := entryKey(sessionID, seq)
	if err != nil {
		return protocol.Message{}, false, err
	}
	return t.entries.Get(tx, key)
}
