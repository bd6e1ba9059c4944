package outbound

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/gateway/channel"
	"github.com/hearth-assistant/hearth/gateway/outbound/chunk"
	"github.com/hearth-assistant/hearth/gateway/store"
	"github.com/hearth-assistant/hearth/internal/random"
)

// DelivererOptions of NewDeliverer. Channels is required.
type DelivererOptions struct {
	// Channels finds a channel; nil means that it is not connected now.
	Channels func(id, account string) channel.Channel
	// Limits says how text is cut for a channel; nil takes the channel's own.
	Limits func(channel.Channel) chunk.Limits
	// OnState hears of every change after it is durable, in order for each
	// delivery. It must not block.
	OnState func(Delivery)
	Now     func() time.Time
	Rand    func() float64 // [0, 1)
	Logger  *slog.Logger
	Retry   Retry
}

// Retry paces attempts; the zero value is right for real networks.
type Retry struct {
	First   time.Duration // 1 s
	Most    time.Duration // 5 min
	GiveUp  time.Duration // 24 h after the delivery was put
	Timeout time.Duration // of one request, 60 s
	Grace   time.Duration // for requests that are under way at the end, 3 s
}

func (r Retry) filled() Retry {
	for p, d := range map[*time.Duration]time.Duration{
		&r.First: time.Second, &r.Most: 5 * time.Minute, &r.GiveUp: 24 * time.Hour, &r.Timeout: time.Minute, &r.Grace: 3 * time.Second,
	} {
		if *p <= 0 {
			*p = d
		}
	}
	return r
}

// Deliverer takes answers to channels: each message at most once unless a
// person asks for it, in order within a conversation, and every outcome kept.
// Its zero value is not usable.
type Deliverer struct {
	DelivererOptions
	db   *store.DB
	rows store.Bucket[Delivery]
	ids  store.Bucket[uint64]
	open store.Bucket[State] // what is not delivered as it was meant, by class: 'o' goes on by itself, 't' waits for a person
	wake chan struct{}

	previews store.Bucket[PreviewRow] // by key

	mu    sync.Mutex
	lanes map[string]*lane
	taken map[uint64]bool // in a lane
	moved chan struct{}   // closed with the next change of a delivery
}

type lane struct {
	queue []uint64
}

const (
	classOpen    = 'o'
	classTrouble = 't'
	classLess    = 'w' // delivered, with words in the place of a file, or beside a preview that could not be removed
)

// NewDeliverer returns a deliverer on the store.
func NewDeliverer(db *store.DB, o DelivererOptions) *Deliverer {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Rand == nil {
		o.Rand = random.Float // only spreads attempts over time
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Limits == nil {
		o.Limits = func(c channel.Channel) chunk.Limits {
			return chunk.LimitsOf(c.Limits())
		}
	}
	o.Retry = o.Retry.filled()
	return &Deliverer{
		DelivererOptions: o, db: db,
		rows: store.NewBucket[Delivery]("deliveries"),
		ids:  store.NewBucket[uint64]("delivery-ids"),
		open: store.NewBucket[State]("delivery-open"),

		previews: store.NewBucket[PreviewRow]("previews"),

		wake:  make(chan struct{}, 1),
		lanes: map[string]*lane{}, taken: map[uint64]bool{}, moved: make(chan struct{}),
	}
}

func openKey(class byte, seq uint64) []byte { return append([]byte{class}, store.Uint64Key(seq)...) }

// Put adds a delivery to the transaction. Call Wake after the commit.
func (d *Deliverer) Put(tx *store.Tx, v Delivery) error {
	if v.ID == "" || v.Channel == "" || v.To.Conversation == "" {
		return fmt.Errorf("put a delivery: it needs an id, a channel and a conversation; it has %q, %q, %q", v.ID, v.Channel, v.To.Conversation)
	}
	if d.ids.Has(tx, []byte(v.ID)) {
		return nil
	}
	seq, err := d.rows.NextSeq(tx)
	if err != nil {
		return fmt.Errorf("put a delivery: %w", err)
	}
	now := d.Now().UnixMilli()
	v.Seq, v.State, v.Parts, v.CreatedAt, v.UpdatedAt = seq, Waiting, nil, now, now
	if err := d.ids.Put(tx, []byte(v.ID), seq); err != nil {
		return fmt.Errorf("put a delivery: %w", err)
	}
	return d.write(tx, &v)
}

// write keeps the row and its place in the index.
func (d *Deliverer) write(tx *store.Tx, v *Delivery) error {
	if err := d.rows.Put(tx, store.Uint64Key(v.Seq), *v); err != nil {
		return err
	}
	for _, class := range []byte{classOpen, classTrouble, classLess} {
		key := openKey(class, v.Seq)
		here := class == classOpen && v.State.Open() || class == classTrouble && (v.State == Failed || v.State == Uncertain) ||
			class == classLess && v.less()
		if !here {
			if err := d.open.Delete(tx, key); err != nil {
				return err
			}
		} else if err := d.open.Put(tx, key, v.State); err != nil {
			return err
		}
	}
	return nil
}

// save makes a change durable and tells of it.
func (d *Deliverer) save(ctx context.Context, v *Delivery) error {
	v.UpdatedAt = d.Now().UnixMilli()
	row := v.clone()
	err := d.db.Update(context.WithoutCancel(ctx), store.Write{Must: true, Do: func(tx *store.Tx) error { return d.write(tx, &row) }})
	if err != nil {
		return fmt.Errorf("record the state of a delivery: %w", err)
	}
	d.mu.Lock()
	close(d.moved)
	d.moved = make(chan struct{})
	d.mu.Unlock()
	if v.State == Failed || v.State == Uncertain { // once: it stays so until a person decides
		d.Logger.Warn("an answer needs a decision: `hearth deliveries` shows it", "id", v.ID, "channel", v.Channel, "account", v.To.Account,
			"state", v.State, "reason", v.Reason)
	}
	if d.OnState != nil && !row.Draft {
		d.OnState(row)
	}
	return nil
}

// Wake says that deliveries were committed. It does not block.
func (d *Deliverer) Wake() {
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

// Run delivers until ctx ends and every request that was under way is over.
func (d *Deliverer) Run(ctx context.Context) {
	var wg sync.WaitGroup
	defer wg.Wait()
	if err := d.recover(ctx); err != nil {
		d.Logger.Error("deliveries that a stop cut off could not be read", "err", err)
	}
	for ctx.Err() == nil {
		fresh, err := d.fresh()
		if err != nil {
			d.Logger.Error("the deliveries could not be read", "err", err)
		}
		for _, v := range fresh {
			d.enqueue(v, func(name string, l *lane) {
				wg.Go(func() { d.work(ctx, name, l) })
			})
		}
		select {
		case <-d.wake:
		case <-ctx.Done():
		}
	}
}

// fresh lists what goes on by itself and is in no lane yet.
func (d *Deliverer) fresh() (out []Delivery, err error) {
	err = d.db.View(func(tx *store.Tx) error {
		for key := range d.open.ScanRaw(tx, store.Range{Prefix: []byte{classOpen}}) {
			d.mu.Lock()
			known := d.taken[binary.BigEndian.Uint64(key[1:])]
			d.mu.Unlock()
			if known {
				continue
			}
			v, ok, err := d.rows.Get(tx, key[1:])
			if err != nil {
				return err
			}
			if ok {
				out = append(out, v)
			}
		}
		return nil
	})
	return out, err
}

func (d *Deliverer) enqueue(v Delivery, start func(string, *lane)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	name := v.lane()
	l, running := d.lanes[name]
	if !running {
		l = &lane{}
		d.lanes[name] = l
		start(name, l)
	}
	d.taken[v.Seq] = true
	l.queue = append(l.queue, v.Seq)
}

// work delivers what is in a lane and ends with it.
func (d *Deliverer) work(ctx context.Context, name string, l *lane) {
	for {
		d.mu.Lock()
		if len(l.queue) == 0 || ctx.Err() != nil {
			for _, seq := range l.queue {
				delete(d.taken, seq)
			}
			delete(d.lanes, name)
			d.mu.Unlock()
			return
		}
		seq := l.queue[0]
		l.queue = l.queue[1:]
		d.mu.Unlock()
		v, err := d.deliver(ctx, name, seq)
		if err != nil && !errors.Is(err, context.Canceled) {
			d.Logger.Error("a delivery stopped", "seq", seq, "err", err)
		}
		d.mu.Lock()
		delete(d.taken, seq)
		d.mu.Unlock()
		if v.State != Delivered {
			d.Wake() // somebody may have asked for it again meanwhile
		}
	}
}

// past closes what a backup held as to be sent: it was sent since, or not, and
// nobody but a person sends it again.
func (d *Deliverer) past(v *Delivery, i int) {
	const why = "Hearth was restored from a backup that is older than this, so it may have been sent already"
	if i < 0 {
		v.State, v.Reason = Uncertain, why
		return
	}
	d.uncertain(v, i, why)
}

// recover closes what a crash left between an attempt and its receipt: nobody
// knows whether it arrived, so nobody but a person sends it again.
func (d *Deliverer) recover(ctx context.Context) error {
	fresh, err := d.fresh()
	if err != nil {
		return err
	}
	for _, v := range fresh {
		i := v.next()
		if v.removes() { // as right now as it was then
			continue
		}
		if d.db.Past(v.CreatedAt) {
			d.past(&v, i)
			if err := d.save(ctx, &v); err != nil {
				return err
			}
			continue
		}
		if i < 0 || v.Parts[i].State != Sending {
			continue
		}
		if d.repeatable(&v, i, d.Channels(v.Channel, v.To.Account)) {
			v.Parts[i].State, v.State, v.EditTried = Waiting, Waiting, d.edits(&v, i)
		} else {
			d.uncertain(&v, i, "Hearth stopped while it was being sent")
		}
		if err := d.save(ctx, &v); err != nil {
			return err
		}
	}
	return nil
}
