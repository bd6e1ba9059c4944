package file

import (
	"fmt"
	"io/fs"
	"path"
	"strings"
	"unicode"

	"github.com/hearth-assistant/hearth/gateway/safepath"
)

// notFound says that a file is missing, and which names are near.
func notFound(p *safepath.Path) error {
	if len(p.Missing()) > 0 {
		return fmt.Errorf("%s: %w; the folder %s is missing as well", p.Name(), fs.ErrNotExist, path.Dir(p.Name()))
	}
	want, near := letters(path.Base(p.Name())), []string{}
	for _, n := range p.Names(1000) {
		if l := letters(n); l == want || len(want) > 3 && (strings.Contains(l, want) || len(l) > 3 && strings.Contains(want, l)) {
			if near = append(near, n); len(near) == 5 {
				break
			}
		}
	}
	if len(near) > 0 {
		return fmt.Errorf("%s: %w; in that folder there is %q", p.Name(), fs.ErrNotExist, near)
	}
	return fmt.Errorf("%s: %w", p.Name(), fs.ErrNotExist)
}

// letters is what is left of a name for comparing: twins by case, accents and
// signs are the same.
func letters(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, s)
}
