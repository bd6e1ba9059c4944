package move

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/hearth-assistant/hearth/gateway/backup"
	"github.com/hearth-assistant/hearth/gateway/failpoint"
	"github.com/hearth-assistant/hearth/gateway/secret"
	"github.com/hearth-assistant/hearth/gateway/statedir"
)

// ErrKeyGone: this machine was woken again, so its key is destroyed.
var ErrKeyGone = errors.New("the other machine was woken again, and what it gave cannot be opened any more")

// KeyFile is the key of the file for the other machine, or, there, of the file that
// came.
func KeyFile(dir statedir.Dir) string { return filepath.Join(Folder(dir), "key") }

// Outgoing is the file for the other machine.
func Outgoing(dir statedir.Dir) string { return filepath.Join(Folder(dir), "out.age") }

// Packed is what the other machine is told of the file.
type Packed struct {
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
	Source int64  `json:"source"` // bytes of all files in it
	Files  int    `json:"files"`
}

func packedFile(dir statedir.Dir) string { return filepath.Join(Folder(dir), "packed.json") }

// IsPacked is what Pack made, false while it has not.
func IsPacked(dir statedir.Dir) (p Packed, ok bool) {
	raw, err := os.ReadFile(packedFile(dir))
	if err != nil || json.Unmarshal(raw, &p) != nil {
		return Packed{}, false
	}
	st, err := os.Stat(Outgoing(dir))
	return p, err == nil && st.Size() == p.Bytes
}

// Pack makes the file for the other machine, of a Hearth that sleeps. Cut short, it
// is begun again with another key.
func Pack(ctx context.Context, dir statedir.Dir, s backup.Source, now time.Time, progress func(int64)) (Packed, error) {
	if p, ok := IsPacked(dir); ok {
		return p, nil
	}
	if err := os.RemoveAll(Folder(dir)); err != nil {
		return Packed{}, fmt.Errorf("pack: %w", err)
	}
	if err := os.MkdirAll(Folder(dir), 0o700); err != nil {
		return Packed{}, fmt.Errorf("pack: %w", err)
	}
	lock, key, err := backup.NewKey()
	if err != nil {
		return Packed{}, err
	}
	if err := statedir.WriteFile(KeyFile(dir), []byte(key.Reveal())); err != nil {
		return Packed{}, fmt.Errorf("pack: %w", err)
	}
	failpoint.Hit("move:packing")
	made, err := backup.Seal(ctx, s, backup.Sealing{Path: Outgoing(dir), To: lock, Now: now, Ready: whole, Progress: progress})
	if err != nil {
		return Packed{}, err
	}
	p := Packed{Bytes: made.Bytes, Source: made.Source, Files: made.Files}
	if p.SHA256, err = sumOf(ctx, Outgoing(dir)); err != nil {
		return Packed{}, err
	}
	raw, err := json.Marshal(p)
	if err != nil {
		return Packed{}, err
	}
	failpoint.Hit("move:packed")
	return p, statedir.WriteFile(packedFile(dir), raw)
}

// whole refuses a file that lacks something: a move leaves nothing behind.
func whole(made backup.Made) error {
	switch {
	case len(made.Left) > 0:
		return fmt.Errorf("%s cannot be read, and a move leaves nothing behind (%d in all); mend its permissions or move it away, then try "+
			"again", made.Left[0], len(made.Left))
	case len(made.Torn) > 0:
		return fmt.Errorf("%s changed while it was read; close the program that writes it, then try again", made.Torn[0])
	}
	return nil
}

func sumOf(ctx context.Context, path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	sum := sha256.New()
	if _, err := io.Copy(sum, reader{ctx, f}); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// reader reads as long as ctx goes on.
type reader struct {
	ctx context.Context
	r   io.Reader
}

func (r reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}

// maxPiece is the most that Piece gives at once.
const maxPiece = 1 << 20

// Piece is a part of the file for the other machine.
func Piece(dir statedir.Dir, at int64) ([]byte, error) {
	f, err := os.Open(Outgoing(dir))
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	buf := make([]byte, maxPiece)
	n, err := f.ReadAt(buf, at)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return buf[:n], nil
}

// Release gives the key to the machine that has the whole file, and has this one
// asleep for good before. It may be asked again.
func Release(ctx context.Context, dir statedir.Dir, id, device, sum string) (secret.Secret, error) {
	unlock, err := dir.Lock(ctx, "move")
	if err != nil {
		return secret.Secret{}, err
	}
	defer unlock()
	s, err := Read(dir)
	if err != nil {
		return secret.Secret{}, err
	}
	if s.ID != id || s.Device != device || s.Phase != Leaving && s.Phase != Left {
		return secret.Secret{}, ErrOther
	}
	p, ok := IsPacked(dir)
	raw, err := os.ReadFile(KeyFile(dir))
	switch {
	case errors.Is(err, fs.ErrNotExist) || !ok:
		return secret.Secret{}, ErrKeyGone
	case err != nil:
		return secret.Secret{}, err
	case p.SHA256 != sum:
		return secret.Secret{}, fmt.Errorf("the other machine has another file (%.12s…, not %.12s…); it has to bring it again", sum, p.SHA256)
	}
	if s.Phase == Leaving {
		s.Phase = Left
		if err := s.write(dir); err != nil {
			return secret.Secret{}, err
		}
	}
	return secret.New(string(raw)), nil
}

// Gone notes that the other machine is awake, and removes what was made for it.
func Gone(ctx context.Context, dir statedir.Dir, id, device string) error {
	unlock, err := dir.Lock(ctx, "move")
	if err != nil {
		return err
	}
	defer unlock()
	s, err := Read(dir)
	if err != nil {
		return err
	}
	if s.ID != id || s.Device != device || s.Phase != Left {
		return ErrOther
	}
	s.Arrived = true
	if err := s.write(dir); err != nil {
		return err
	}
	return os.RemoveAll(Folder(dir))
}

// Export packs a Hearth that sleeps into a file on a disk, which a passphrase opens.
// It is asleep for good before the file has its name.
func Export(ctx context.Context, dir statedir.Dir, s backup.Source, o backup.Sealing) (backup.Made, error) {
	st, err := Read(dir)
	if err != nil {
		return backup.Made{}, err
	}
	if st.Device != "" || st.Phase == Arriving {
		return backup.Made{}, ErrOther
	}
	if _, err := os.Lstat(o.Path); err == nil {
		return backup.Made{}, fmt.Errorf("%s is there already; choose another name", o.Path)
	}
	o.Ready = func(made backup.Made) error {
		if err := whole(made); err != nil {
			return err
		}
		st.Phase, st.File = Left, o.Path
		return st.write(dir)
	}
	return backup.Seal(ctx, s, o)
}
