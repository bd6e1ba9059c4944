// Package move is the feature by which this Hearth goes to another machine, or into
// a file, and sleeps here from then on. The order of the steps is package
// gateway/move's; the newer machine's side is the command line's (`hearth move`).
package move

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/hearth-assistant/hearth/gateway/audit"
	"github.com/hearth-assistant/hearth/gateway/backup"
	"github.com/hearth-assistant/hearth/gateway/host"
	"github.com/hearth-assistant/hearth/gateway/method"
	"github.com/hearth-assistant/hearth/gateway/move"
	"github.com/hearth-assistant/hearth/gateway/pairing"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/secret"
	"github.com/hearth-assistant/hearth/gateway/server"
	"github.com/hearth-assistant/hearth/gateway/statedir"
	"github.com/hearth-assistant/hearth/gateway/uuid"
)

// offerTime is how long another machine may begin after the offer.
const offerTime = 30 * time.Minute

// Options are the parts that the feature needs; all of them.
type Options struct {
	Dir     statedir.Dir
	Asleep  move.State // since the start
	Pairing *pairing.Registry
	// Contents is all of this Hearth, for a move.
	Contents func(context.Context) (backup.Contents, error)
	Audit    *audit.Log
	Restart  chan<- struct{} // ends the gateway; who runs it starts it as what it is then
	Now      func() time.Time
	Log      *slog.Logger
}

type feature struct {
	Options

	mu     sync.Mutex
	until  time.Time // of the offer; zero: there is none
	since  time.Time // when it was made
	device string    // to which; "": one that is paired from then on
	done   int64     // bytes packed
	have   int64     // of the other machine
	failed string    // of packing
	again  chan struct{}
}

// New makes the feature.
func New(o Options) host.Feature {
	f := &feature{Options: o, again: make(chan struct{}, 1)}
	return host.Feature{
		Methods: []method.Method{
			method.Plain(protocol.MethodMoveStatus, f.status),
			method.Called(protocol.MethodMoveOffer, f.offer),
			method.Called(protocol.MethodMoveBegin, f.begin),
			method.Called(protocol.MethodMovePiece, f.piece),
			method.Called(protocol.MethodMoveRelease, f.release),
			method.Called(protocol.MethodMoveArrived, f.arrived),
			method.Called(protocol.MethodMoveLeave, f.leave),
			method.Called(protocol.MethodMoveExport, f.export),
			method.Called(protocol.MethodMoveWake, f.wake),
		},
		Problems: f.problems, Checks: f.checks,
		Run: f.run,
	}
}

// here refuses who is elsewhere: what a Hearth is leaves a machine only when
// somebody who sits before it says so.
func here(c *server.Caller) error {
	if c.Local {
		return nil
	}
	return protocol.Invalid("A move is begun, and a sleeping Hearth woken, on the machine itself: by `hearth move` there, or by its page.").
		With("code", "LOCAL_ONLY")
}

func (f *feature) status(context.Context, method.None) (protocol.MoveStatus, error) {
	s, err := move.Read(f.Dir)
	f.mu.Lock()
	defer f.mu.Unlock()
	if errors.Is(err, move.ErrAwake) {
		if f.offered() {
			return protocol.MoveStatus{Phase: "offered", UntilMs: f.until.UnixMilli()}, nil
		}
		return protocol.MoveStatus{Phase: "awake"}, nil
	}
	out := protocol.MoveStatus{
		Phase: s.Phase, ID: s.ID, AtMs: s.At.UnixMilli(), Name: s.Name, File: s.File, Arrived: s.Arrived, Error: f.failed, Have: f.done,
	}
	if p, ok := move.IsPacked(f.Dir); ok {
		out.Packed, out.Bytes, out.SHA256, out.Source, out.Files, out.Have = true, p.Bytes, p.SHA256, p.Source, p.Files, f.have
	}
	return out, nil
}

func (f *feature) offered() bool { return f.Now().Before(f.until) }

// offer lets another machine ask for everything.
func (f *feature) offer(ctx context.Context, c *server.Caller, p protocol.MoveOfferParams) (protocol.MoveStatus, error) {
	if err := here(c); err != nil {
		return protocol.MoveStatus{}, err
	}
	if f.Asleep.Sleeps() {
		return protocol.MoveStatus{}, protocol.Invalid("This Hearth sleeps already. `hearth move status` says why.")
	}
	f.mu.Lock()
	f.since, f.device, f.until = f.Now(), p.Device, f.Now().Add(offerTime)
	if p.Withdraw {
		f.until = time.Time{}
	}
	f.mu.Unlock()
	return f.status(ctx, method.None{})
}

// begin is the other machine asking for everything. This one falls asleep before it
// has any of it.
func (f *feature) begin(ctx context.Context, c *server.Caller, _ method.None) (protocol.MoveBegun, error) {
	if s, err := move.Read(f.Dir); err == nil && s.Device == c.DeviceID && c.DeviceID != "" && s.Phase != move.Arriving {
		return protocol.MoveBegun{ID: s.ID}, nil // it goes on
	}
	name, err := f.mayBegin(c)
	if err != nil {
		return protocol.MoveBegun{}, err
	}
	if _, err := f.Contents(ctx); err != nil { // what cannot be packed shall not be put to sleep
		return protocol.MoveBegun{}, protocol.Invalid("This Hearth cannot be packed: %v", err)
	}
	s := move.State{ID: uuid.New(), At: f.Now().UTC(), Device: c.DeviceID, Name: name}
	if err := f.sleep(ctx, s); err != nil {
		return protocol.MoveBegun{}, err
	}
	return protocol.MoveBegun{ID: s.ID}, nil
}

// mayBegin: there is an offer, and it is for this machine.
func (f *feature) mayBegin(c *server.Caller) (name string, err error) {
	f.mu.Lock()
	until, since, device := f.until, f.since, f.device
	f.mu.Unlock()
	if !f.Now().Before(until) || c.DeviceID == "" {
		return "", protocol.Invalid("This Hearth was not offered. Run `hearth move send` on its machine, then try again.").
			With("code", "NOT_OFFERED")
	}
	for _, d := range f.Pairing.Devices() {
		if d.ID != c.DeviceID {
			continue
		}
		if device == d.ID || device == "" && d.ApprovedAtMs >= since.UnixMilli() {
			return method.CallerName(c), nil
		}
	}
	return "", protocol.Invalid("This Hearth was offered to another machine. A machine that was paired before has to be named: `hearth move "+
		"send --to DEVICE` (`hearth devices` lists them).").With("code", "NOT_OFFERED")
}

// sleep notes that this Hearth sleeps, and ends it; it comes back asleep.
func (f *feature) sleep(ctx context.Context, s move.State) error {
	if err := move.Leave(ctx, f.Dir, s); err != nil {
		return protocol.Invalid("%v", err)
	}
	f.Audit.Add(audit.Entry{Kind: audit.KindAuth, What: "this Hearth falls asleep: it is moved to another machine", Who: s.Name,
		Facts: map[string]string{"move": s.ID, "device": s.Device}})
	f.Log.Info("this Hearth falls asleep, to be moved", "to", s.Name)
	f.goAgain()
	return nil
}

func (f *feature) goAgain() {
	select {
	case f.Restart <- struct{}{}:
	default:
	}
}

// mine is the move that the calling machine asked for.
func (f *feature) mine(c *server.Caller, id string) error {
	s, err := move.Read(f.Dir)
	if errors.Is(err, move.ErrAwake) {
		return protocol.Invalid("%v", move.ErrKeyGone).With("code", "WOKEN")
	}
	if err != nil || s.ID != id || s.Device != c.DeviceID || c.DeviceID == "" {
		return protocol.Invalid("%v", errors.Join(move.ErrOther, err)).With("code", "WOKEN")
	}
	return nil
}

func (f *feature) piece(_ context.Context, c *server.Caller, p protocol.MovePieceParams) (protocol.MovePiece, error) {
	if err := f.mine(c, p.ID); err != nil {
		return protocol.MovePiece{}, err
	}
	b, err := move.Piece(f.Dir, p.At)
	if err != nil {
		return protocol.MovePiece{}, protocol.Invalid("%v", err)
	}
	f.mu.Lock()
	f.have = p.At + int64(len(b))
	f.mu.Unlock()
	return protocol.MovePiece{Data: b}, nil
}

func (f *feature) release(ctx context.Context, c *server.Caller, p protocol.MoveReleaseParams) (protocol.MoveReleased, error) {
	if err := f.mine(c, p.ID); err != nil {
		return protocol.MoveReleased{}, err
	}
	key, err := move.Release(ctx, f.Dir, p.ID, c.DeviceID, p.SHA256)
	if err != nil {
		return protocol.MoveReleased{}, protocol.Invalid("%v", err).With("code", "WOKEN")
	}
	f.Audit.Add(audit.Entry{Kind: audit.KindAuth, What: "the other machine has everything; this Hearth sleeps until it is woken",
		Facts: map[string]string{"move": p.ID}})
	return protocol.MoveReleased{Key: key.Reveal()}, nil
}

func (f *feature) arrived(ctx context.Context, c *server.Caller, p protocol.MoveArrivedParams) (protocol.MoveStatus, error) {
	if err := f.mine(c, p.ID); err != nil {
		return protocol.MoveStatus{}, err
	}
	if err := move.Gone(ctx, f.Dir, p.ID, c.DeviceID); err != nil {
		return protocol.MoveStatus{}, protocol.Invalid("%v", err)
	}
	f.Log.Info("the other machine is awake")
	f.goAgain() // from now on nobody else reaches this one
	return f.status(ctx, method.None{})
}

// leave puts this Hearth to sleep, so that it can be packed into a file.
func (f *feature) leave(ctx context.Context, c *server.Caller, _ method.None) (protocol.MoveStatus, error) {
	if err := here(c); err != nil {
		return protocol.MoveStatus{}, err
	}
	if !f.Asleep.Sleeps() {
		if _, err := f.Contents(ctx); err != nil {
			return protocol.MoveStatus{}, protocol.Invalid("This Hearth cannot be packed: %v", err)
		}
		if err := f.sleep(ctx, move.State{ID: uuid.New(), At: f.Now().UTC(), Name: "a file"}); err != nil {
			return protocol.MoveStatus{}, err
		}
	}
	return f.status(ctx, method.None{})
}

func (f *feature) export(ctx context.Context, c *server.Caller, p protocol.MoveExportParams) (protocol.MoveExported, error) {
	if err := here(c); err != nil {
		return protocol.MoveExported{}, err
	}
	if !f.Asleep.Sleeps() {
		return protocol.MoveExported{}, protocol.Invalid("This Hearth is awake. `hearth move export FILE` puts it to sleep first.")
	}
	lock, err := backup.LockBy(secret.New(p.Passphrase))
	if err != nil {
		return protocol.MoveExported{}, protocol.Invalid("%v", err)
	}
	contents, err := f.Contents(ctx)
	if err != nil {
		return protocol.MoveExported{}, protocol.Invalid("%v", err)
	}
	made, err := move.Export(ctx, f.Dir, contents.Source(), backup.Sealing{Path: p.Path, To: lock, Now: f.Now(), Progress: f.packed})
	if err != nil {
		return protocol.MoveExported{}, protocol.Invalid("%v", err)
	}
	return protocol.MoveExported{Path: p.Path, Bytes: made.Bytes, Files: made.Files, Source: made.Source}, nil
}

func (f *feature) packed(done int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.done = done
}

func (f *feature) wake(ctx context.Context, c *server.Caller, p protocol.MoveWakeParams) (protocol.MoveStatus, error) {
	if err := here(c); err != nil {
		return protocol.MoveStatus{}, err
	}
	if err := move.Wake(ctx, f.Dir, p.Sure); errors.Is(err, move.ErrSure) {
		return protocol.MoveStatus{}, protocol.Invalid("%s", move.SureWords).With("code", "SURE")
	} else if err != nil {
		return protocol.MoveStatus{}, protocol.Invalid("%v", err)
	}
	f.Audit.Add(audit.Entry{Kind: audit.KindAuth, What: "this Hearth was woken", Who: method.CallerName(c)})
	f.Log.Info("this Hearth was woken")
	f.goAgain()
	return protocol.MoveStatus{Phase: "awake"}, nil
}
