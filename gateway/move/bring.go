package move

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/hearth-assistant/hearth/gateway/failpoint"
	"github.com/hearth-assistant/hearth/gateway/secret"
	"github.com/hearth-assistant/hearth/gateway/statedir"
)

// Coming is a move to this machine that is under way.
type Coming struct {
	ID     string `json:"id"`
	From   string `json:"from"` // the gateway, as it is called here
	Packed        // zero until the other machine has packed
}

func comingFile(dir statedir.Dir) string { return filepath.Join(Folder(dir), "coming.json") }

// Incoming is the file that comes, as far as it is here.
func Incoming(dir statedir.Dir) string { return filepath.Join(Folder(dir), "in.age") }

// ReadComing is the move to this machine that is under way, false for none.
func ReadComing(dir statedir.Dir) (Coming, bool) {
	var c Coming
	raw, err := os.ReadFile(comingFile(dir))
	return c, err == nil && json.Unmarshal(raw, &c) == nil && c.ID != ""
}

// Expect begins a move to this machine, or goes on with it. What was brought of
// another file is removed.
func Expect(dir statedir.Dir, c Coming) error {
	if st := Asleep(dir); st.Sleeps() && st.Phase != Arriving {
		return fmt.Errorf("%w: the Hearth that is here sleeps, because it was moved away; wake it or remove it first", ErrOther)
	}
	old, ok := ReadComing(dir)
	if ok && old == c {
		return nil
	}
	if !ok || old.ID != c.ID || old.SHA256 != "" && old.SHA256 != c.SHA256 {
		if err := os.RemoveAll(Folder(dir)); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(Folder(dir), 0o700); err != nil {
		return err
	}
	raw, err := json.Marshal(c)
	if err != nil {
		return err
	}
	return statedir.WriteFile(comingFile(dir), raw)
}

// Bring writes what comes, from where an earlier try ended, until all is here and is
// what was packed.
func Bring(ctx context.Context, dir statedir.Dir, c Coming, piece func(ctx context.Context, at int64) ([]byte, error),
	progress func(have int64)) (err error) {
	f, err := os.OpenFile(Incoming(dir), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("keep what comes: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	st, err := f.Stat()
	if err != nil {
		return err
	}
	have := min(st.Size(), c.Bytes)
	for have < c.Bytes {
		progress(have)
		b, err := piece(ctx, have)
		if err != nil {
			return err
		}
		if len(b) == 0 || int64(len(b)) > c.Bytes-have {
			return errors.New("the other machine sends something else than it packed")
		}
		if _, err := f.WriteAt(b, have); statedir.IsFull(err) {
			return fmt.Errorf("the disk of %s is full; make room there, then go on (%w)", Folder(dir), err)
		} else if err != nil {
			return fmt.Errorf("keep what comes: %w", err)
		}
		have += int64(len(b))
		failpoint.Hit("move:piece")
	}
	progress(have)
	if err := errors.Join(f.Truncate(c.Bytes), f.Sync()); err != nil {
		return fmt.Errorf("keep what comes: %w", err)
	}
	sum, err := sumOf(ctx, Incoming(dir))
	if err != nil {
		return err
	}
	if sum != c.SHA256 {
		// A byte was lost on this disk or on the way: nothing of it is trusted.
		return errors.Join(errors.New("what came is not what the other machine packed, so it is brought again"), os.Remove(Incoming(dir)))
	}
	return nil
}

// KeepKey keeps the key of the file that came: from now on this machine alone can go
// on.
func KeepKey(dir statedir.Dir, key secret.Secret) error {
	if err := statedir.WriteFile(KeyFile(dir), []byte(key.Reveal())); err != nil {
		return fmt.Errorf("keep the key of what came: %w", err)
	}
	failpoint.Hit("move:key")
	return nil
}

// Key is the key that was kept, false while there is none.
func Key(dir statedir.Dir) (secret.Secret, bool) {
	raw, err := os.ReadFile(KeyFile(dir))
	return secret.New(string(raw)), err == nil && len(raw) > 0
}

// Forget gives up a move to this machine whose key never came.
func Forget(dir statedir.Dir) error {
	if _, ok := Key(dir); ok {
		return ErrUnfinished
	}
	if err := os.RemoveAll(Folder(dir)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
