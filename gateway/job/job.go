// Package job keeps jobs and their runs, and decides when one is due. A run is
// the pair of a job and a slot, the slot being the planned instant and never
// "now"; it is claimed in one transaction with what it begins, so that a crash
// leaves either nothing, and the slot is due, or a run that is finished at the
// next start: no slot is lost and none happens twice.
//
// The package does not know what a job does, what a session is or how a result
// travels: package feature/cron hands that in (Does).
package job

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/schedule"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// Limits of what is kept.
const (
	MaxJobs    = 10_000
	MaxScratch = 256 << 10
	maxText    = 64 << 10 // of a result, until it is delivered
	maxSummary = 2000
)

// State is how far a run is.
type State string

// The states of a run.
const (
	Checking   State = "checking"   // its condition is asked whether it is to begin
	Claimed    State = "claimed"    // it is to begin
	Running    State = "running"    // it has begun
	Ended      State = "ended"      // its result is to be delivered
	Delivering State = "delivering" // somebody else has its result and will say what became of it
	Done       State = "done"
)

// Job is a job as it is kept.
type Job struct {
	protocol.CronSpec
	ID        string                `json:"id"`
	CreatedAt int64                 `json:"createdAt"`
	UpdatedAt int64                 `json:"updatedAt"`
	Revision  int64                 `json:"revision"`       // of the definition
	Slot      int64                 `json:"slot,omitempty"` // the last one that was dealt with
	Next      int64                 `json:"next,omitempty"` // the slot that is due next; 0 = none
	NotBefore int64                 `json:"notBefore,omitempty"`
	Attempt   int                   `json:"attempt,omitempty"` // of a slot that is tried again
	BadTimes  int                   `json:"badTimes,omitempty"`
	Alerted   bool                  `json:"alerted,omitempty"` // the failure was told, its end is told too
	State     protocol.CronJobState `json:"state"`
	// Guest: the words that made it were not the owner's own; it has no more rights.
	Guest  bool `json:"guest,omitempty"`
	System bool `json:"system,omitempty"` // made by the gateway
	// Writes counts the times that it was written, so that what is known of it in
	// memory is never an older one.
	Writes int64 `json:"writes,omitempty"`

	plan *schedule.Schedule
}

// On reports whether the job is enabled.
func (j *Job) On() bool { return j.Enabled == nil || *j.Enabled }

// due is when the job is looked at next, 0 for never.
func (j *Job) due() int64 {
	if !j.On() || j.Next == 0 {
		return 0
	}
	if !j.timed() { // what happened is due at once, also when a clock was set since
		return max(j.NotBefore, 1)
	}
	return max(j.Next, j.NotBefore)
}

// Planned is when it is due next as people are told it, 0 for nobody knows.
func (j *Job) Planned() int64 {
	if !j.On() || j.Next == 0 {
		return 0
	}
	return max(j.Next, j.NotBefore)
}

// Own are the parts of the job that are ours.
func (j *Job) Own() protocol.CronOwn {
	if j.Hearth == nil {
		return protocol.CronOwn{}
	}
	return *j.Hearth
}

// Run is a run as it is kept.
type Run struct {
	protocol.CronRun
	Seq     uint64             `json:"seq"`
	Slot    int64              `json:"slot,omitempty"` // 0: begun by hand
	Attempt int                `json:"attempt,omitempty"`
	Late    bool               `json:"late,omitempty"`
	Missed  int                `json:"missed,omitempty"`
	Stage   State              `json:"stage"`
	Spec    *protocol.CronSpec `json:"spec,omitempty"` // while it is open
	Guest   bool               `json:"guest,omitempty"`
	Text    string             `json:"text,omitempty"` // the result, until it is delivered
	Sent    string             `json:"sent,omitempty"` // the delivery
	Cost    float64            `json:"cost,omitempty"`
	Seen    int64              `json:"seen,omitempty"`
	Again   int64              `json:"again,omitempty"` // when it is told again unless it was seen
	Items   []Item             `json:"items,omitempty"` // by which it was due, while it is open

	Revision int64           `json:"revision,omitempty"` // of the job, as it was claimed
	Event    string          `json:"event,omitempty"`    // what happened, until it is done
	Outside  bool            `json:"outside,omitempty"`  // strangers may have written that
	Keeps    json.RawMessage `json:"keeps,omitempty"`    // the state of its script, if it succeeds
	Look     int64           `json:"look,omitempty"`     // after how many milliseconds it wants to be looked at again

	alerts *bool // what is told with it: true, that the job fails; false, that it works again
}

// Open reports whether something is still to be done.
func (r *Run) Open() bool { return r.Stage != Done }

// Wire is the run as clients see it.
func (r *Run) Wire() protocol.CronRun {
	out := r.CronRun
	out.Hearth = &protocol.CronRunOwn{
		SlotMs: r.Slot, CostUSD: r.Cost, Late: r.Late, Missed: r.Missed, DeliveryID: r.Sent, State: string(r.Stage), SeenAtMs: r.Seen,
		Important: r.Again > 0,
	}
	return out
}

// RunID is the identity of a slot of a job, and of each time it is tried again.
func RunID(jobID string, slot int64, attempt int) string {
	id := "cron:" + jobID + ":" + strconv.FormatInt(slot, 10)
	if attempt > 0 {
		id += ":" + strconv.Itoa(attempt)
	}
	return id
}

// Errors for people.
var (
	ErrNotFound = errors.New("there is no such job")
	ErrTaken    = errors.New("this slot was run before")
	ErrTooMany  = fmt.Errorf("there are %d jobs already, and no more are kept; remove some", MaxJobs)
	ErrChanged  = errors.New("the job was changed meanwhile; look at it again")
)

// Options of a Book; all are needed but Logger.
type Options struct {
	DB  *store.DB
	Now func() time.Time
	// Awake is the time since the computer was started, with sleep; ok is false
	// where the system does not say.
	Awake  func() (d time.Duration, ok bool)
	Zone   func() *time.Location
	NewID  func() string
	Logger *slog.Logger
	// Limits of the settings, asked each time.
	Limits func() Limits
	// Changed hears of every change of a job and of the begin and end of runs,
	// after it is durable. It must not block.
	Changed func(ev protocol.CronEvent)
}

// Limits are what the settings say.
type Limits struct {
	On         bool
	AtOnce     int           // runs at the same time
	Late       int           // of them made up for missed slots
	KeepRuns   time.Duration // rows of runs
	RunsPerJob int
	CatchUp    *protocol.CronCatchUp // where a job says nothing; nil: by its kind
}

// Book is safe for concurrent use.
type Book struct {
	Options
	t    tables
	wake chan struct{}
	boot string

	mu     sync.RWMutex
	jobs   map[string]*Job // values are replaced, never changed
	open   map[string]Run  // runs that are open
	edits  uint64          // changes of definitions
	missed protocol.CronMissed
	asked  map[string]bool // jobs whose missed slots wait for a word
	awake  int64           // since when, on the wall
	health time.Time       // since when the gateway works
	ready  bool            // somebody is there, or it has worked for long enough
}

type tables struct {
	jobs    store.Bucket[Job]
	scratch store.Bucket[protocol.CronScratch]
	runs    store.Bucket[Run]    // seq
	ids     store.Bucket[uint64] // run id → seq
	byJob   store.Bucket[struct{}]
	open    store.Bucket[string] // seq → run id
	items   store.Bucket[Item]   // job, seq
	meta    store.Bucket[meta]
}

// meta is what the book knows of itself.
type meta struct {
	Seen   int64               `json:"seen"` // a moment at which it worked
	Missed protocol.CronMissed `json:"missed"`
}

var metaKey = []byte("meta")

// Open reads the book.
func Open(o Options) (*Book, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Changed == nil {
		o.Changed = func(protocol.CronEvent) {}
	}
	b := &Book{
		Options: o, wake: make(chan struct{}, 1), boot: o.NewID(), jobs: map[string]*Job{}, open: map[string]Run{}, asked: map[string]bool{},
		t: tables{
			jobs: store.NewBucket[Job]("cron.jobs"), scratch: store.NewBucket[protocol.CronScratch]("cron.scratch"),
			runs: store.NewBucket[Run]("cron.runs"), ids: store.NewBucket[uint64]("cron.runs.id"),
			byJob: store.NewBucket[struct{}]("cron.runs.job"), open: store.NewBucket[string]("cron.runs.open"),
			items: store.NewBucket[Item]("cron.items"), meta: store.NewBucket[meta]("cron.meta"),
		},
	}
	return b, o.DB.View(b.load)
}

func (b *Book) load(tx *store.Tx) error {
	for row, err := range b.t.jobs.Scan(tx, store.Range{}) {
		if err != nil {
			return fmt.Errorf("read the jobs: %w", err)
		}
		j := row.Value
		b.compile(&j)
		b.jobs[j.ID] = &j
	}
	for row, err := range b.t.open.Scan(tx, store.Range{}) {
		if err != nil {
			return fmt.Errorf("read the open runs: %w", err)
		}
		r, ok, err := b.t.runs.Get(tx, row.Key)
		if err != nil {
			return fmt.Errorf("read an open run: %w", err)
		}
		if ok {
			b.open[r.RunID] = r
		}
	}
	m, _, err := b.t.meta.Get(tx, metaKey)
	b.missed = m.Missed
	for _, j := range m.Missed.Jobs {
		if m.Missed.Ask && j.Outcome == "asking" { // nobody has said a word yet
			b.asked[j.JobID] = true
		}
	}
	return err
}

// compile understands the schedule of a job; one that cannot be has none.
func (b *Book) compile(j *Job) {
	p, err := schedule.Compile(j.Schedule, schedule.Options{ID: j.ID, Zone: b.Zone(), Created: j.CreatedAt})
	j.plan = nil
	if err == nil {
		j.plan = p
	}
}

// Wake says that something changed. It does not block.
func (b *Book) Wake() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// Get is one job, by its id or its exact name.
func (b *Book) Get(id string) (Job, error) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	if j, ok := b.jobs[id]; ok {
		return *j, nil
	}
	return Job{}, fmt.Errorf("automation not found: %s: %w", short(id), ErrNotFound)
}

func short(s string) string {
	if len(s) > 80 {
		return strings.ToValidUTF8(s[:80], "") + "…"
	}
	return s
}

// All are the jobs, in no order, and a mark that changes with their definitions.
// Nobody changes them: a job that is another one now is another value.
func (b *Book) All() (jobs []*Job, revision string) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	jobs = make([]*Job, 0, len(b.jobs))
	for _, j := range b.jobs {
		jobs = append(jobs, j)
	}
	return jobs, b.boot + "-" + strconv.FormatUint(b.edits, 10)
}

// Plan is when a job is due, nil where the clock does not say it.
func (j *Job) Plan() *schedule.Schedule { return j.plan }

// Running are the open runs, of a job when it is named.
func (b *Book) Running(jobID string) (out []Run) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	for _, r := range b.open {
		if jobID == "" || r.JobID == jobID {
			out = append(out, r)
		}
	}
	return out
}
