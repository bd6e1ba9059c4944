package agents

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/rivo/uniseg"
	"golang.org/x/text/unicode/norm"

	"github.com/hearth-assistant/hearth/gateway/agents"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// maxID bounds an id, with room for a number behind it.
const maxID = 60

// newID is the id of a new assistant of this name. A name that says itself in letters and
// digits of an id is that id, so that two of the same name cannot be mistaken for
// each other; of one in another script an id is found that is free.
func newID(book *agents.Book, name string) (string, error) {
	if err := checkName(book, "", name); err != nil {
		return "", err
	}
	id, whole := slug(name)
	if whole {
		if _, ok := book.Get(id); ok {
			return "", taken(id)
		}
		return id, nil
	}
	for n := 1; ; n++ {
		free := id
		if n > 1 {
			free = fmt.Sprintf("%s-%d", id, n)
		}
		if _, ok := book.Get(free); !ok {
			return free, nil
		}
	}
}

// checkName refuses a name without a letter or digit, and that of another assistant than id.
func checkName(book *agents.Book, id, name string) error {
	if !strings.ContainsFunc(name, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
		return protocol.Invalid("An assistant's name needs a letter or digit.")
	}
	for _, a := range book.All() {
		if a.ID != id && strings.EqualFold(strings.TrimSpace(name), a.Name) {
			return taken(a.Name)
		}
	}
	return nil
}

func taken(name string) error {
	return protocol.Invalid("There is already an assistant %q. Choose another name.", name)
}

// checkEmoji refuses words where a picture belongs: a list has room for one.
func checkEmoji(emoji string) error {
	if uniseg.GraphemeClusterCount(emoji) > 2 || strings.ContainsFunc(emoji, func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsSpace(r) || unicode.IsControl(r)
	}) {
		return protocol.Invalid("%q is no emoji. Give one, such as 🦊.", emoji)
	}
	return nil
}

// slug makes an id of a name, in which an accent is left out and its letter stays. whole
// reports whether no letter was lost: an id of what is left over would say
// nothing of the name.
func slug(name string) (id string, whole bool) {
	var b strings.Builder
	whole = true
	for _, r := range norm.NFD.String(strings.ToLower(strings.TrimSpace(name))) {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			b.WriteRune(r)
		case unicode.Is(unicode.M, r):
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			whole = false
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	id = strings.Trim(b.String()[:min(b.Len(), maxID)], "-")
	if !whole && !strings.ContainsFunc(id, unicode.IsLetter) {
		id = "assistant"
	}
	return id, whole
}
