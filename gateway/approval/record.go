package approval

import (
	"cmp"
	"slices"

	"github.com/hearth-assistant/hearth/gateway/store"
)

// State is where a request is in its life. Only pending ones can change, once.
type State string

const (
	StatePending   State = "pending"
	StateAllowed   State = "allowed" // and used: there is no second time
	StateDenied    State = "denied"
	StateExpired   State = "expired"
	StateWithdrawn State = "withdrawn"
)

// Record is a request and what became of it.
type Record struct {
	ID        string `json:"id"`
	Ask       Ask    `json:"ask"`
	State     State  `json:"state"`
	Epoch     string `json:"epoch"` // the boot that can use it
	CreatedAt int64  `json:"createdAt"`
	ExpiresAt int64  `json:"expiresAt"`
	// Asked is the number of this request in its run, so that people see a flood.
	Asked int `json:"asked,omitempty"`
	// Requester is the client that asked over the wire, "" = a run.
	Requester string `json:"requester,omitempty"`

	Scope     Scope  `json:"scope,omitempty"`
	By        string `json:"by,omitempty"` // who decided
	Reason    string `json:"reason,omitempty"`
	DecidedAt int64  `json:"decidedAt,omitempty"`
	RuleID    string `json:"ruleId,omitempty"` // made by the decision
}

// Rule is a decision that holds for longer than once.
type Rule struct {
	ID         string   `json:"id"`
	Scope      Scope    `json:"scope"` // session, here, program, folder or never
	Kind       Kind     `json:"kind"`
	AgentID    string   `json:"agentId"`
	SessionKey string   `json:"sessionKey,omitempty"` // of scope session
	SessionID  string   `json:"sessionId,omitempty"`
	Epoch      string   `json:"epoch,omitempty"` // of scope session: ends with the boot
	Title      string   `json:"title"`           // as it was shown
	Dir        string   `json:"dir,omitempty"`
	Exact      [32]byte `json:"exact"` // zero for scopes program and folder
	Program    string   `json:"program,omitempty"`
	Hash       [32]byte `json:"hash"` // of the program's file
	Unconfined bool     `json:"unconfined,omitempty"`
	Folder     string   `json:"folder,omitempty"` // of scope folder
	CreatedAt  int64    `json:"createdAt"`
	ExpiresAt  int64    `json:"expiresAt"`
	By         string   `json:"by"`
}

type tables struct {
	records store.Bucket[Record]   // id
	pending store.Bucket[struct{}] // id, while the record is pending
	order   store.Bucket[string]   // creation time and a number → id
	rules   store.Bucket[Rule]     // id
}

func newTables() tables {
	return tables{
		records: store.NewBucket[Record]("approvals"),
		pending: store.NewBucket[struct{}]("approvals.pending"),
		order:   store.NewBucket[string]("approvals.order"),
		rules:   store.NewBucket[Rule]("approvals.rules"),
	}
}

// maxRecords is how many requests are remembered.
const maxRecords = 2000

func (t *tables) create(tx *store.Tx, r Record) error {
	seq, err := t.order.NextSeq(tx)
	if err != nil {
		return err
	}
	if err := t.order.Put(tx, store.Uint64Key(seq), r.ID); err != nil {
		return err
	}
	if err := t.pending.Put(tx, []byte(r.ID), struct{}{}); err != nil {
		return err
	}
	if err := t.records.Put(tx, []byte(r.ID), r); err != nil {
		return err
	}
	if seq <= maxRecords {
		return nil
	}
	return t.forget(tx, store.Uint64Key(seq-maxRecords))
}

// forget drops what is older than the given place, but never what is pending.
func (t *tables) forget(tx *store.Tx, before []byte) error {
	var old [][]byte
	for row, err := range t.order.Scan(tx, store.Range{Before: before}) {
		if err != nil {
			return err
		}
		if t.pending.Has(tx, []byte(row.Value)) {
			continue
		}
		if err := t.records.Delete(tx, []byte(row.Value)); err != nil {
			return err
		}
		old = append(old, append([]byte(nil), row.Key...))
	}
	for _, k := range old {
		if err := t.order.Delete(tx, k); err != nil {
			return err
		}
	}
	return nil
}

// end makes a pending record final. ErrResolved when it is not pending.
func (t *tables) end(tx *store.Tx, id string, change func(*Record) error) (Record, error) {
	rec, ok, err := t.records.Get(tx, []byte(id))
	if err != nil {
		return rec, err
	}
	if !ok {
		return rec, ErrNotFound
	}
	if rec.State != StatePending {
		return rec, ErrResolved
	}
	if err := change(&rec); err != nil {
		return rec, err
	}
	if err := t.pending.Delete(tx, []byte(id)); err != nil {
		return rec, err
	}
	for i := range rec.Ask.Scripts { // their hash is what was decided about
		rec.Ask.Scripts[i].Text = ""
	}
	return rec, t.records.Put(tx, []byte(id), rec)
}

func sortRecords(rs []Record) {
	slices.SortStableFunc(rs, func(a, b Record) int {
		return cmp.Or(cmp.Compare(a.CreatedAt, b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
}
