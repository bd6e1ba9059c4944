package secret

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Store keeps secrets by name. Calls may come at the same time; each ends soon
// or with ctx.
type Store interface {
	Get(ctx context.Context, name string) (Secret, error) // ErrNotFound
	Set(ctx context.Context, name string, s Secret) error
	Delete(ctx context.Context, name string) error // ErrNotFound
	List(ctx context.Context) ([]Entry, error)     // sorted by name
}

// Entry is what is told of a secret: never its value.
type Entry struct {
	Name      string
	UpdatedAt time.Time
}

// What callers decide by. A store wraps them with what to do about it.
var (
	ErrNotFound    = errors.New("there is no secret of this name")
	ErrLocked      = errors.New("the place that keeps the secrets is locked")
	ErrUnavailable = errors.New("there is no place to keep secrets")
	// ErrPassphrase means that a passphrase is not the vault's, or not usable.
	ErrPassphrase = errors.New("this passphrase was not taken")
)

// MaxValue is the longest value that a store takes.
const MaxValue = 1 << 20

// maxName keeps names within what every keychain takes.
const maxName = 200

// CheckName says whether a name can be used: it is shown, put into files and
// handed to keychains.
func CheckName(name string) error {
	bad := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("._-:/@+", r)
	}
	if name == "" || len(name) > maxName || name[0] == '-' || strings.ContainsFunc(name, bad) {
		return &NameError{}
	}
	return nil
}

// NameError is about a name that no store takes. It does not show the name, which
// may be a key pasted at the wrong place.
type NameError struct{}

func (*NameError) Error() string {
	return fmt.Sprintf("the name of a secret has 1 to %d letters, digits and . _ - : / @ + and does not begin with -", maxName)
}
