// Package i18n says what is not in the page in the language of the person: the icon
// in the menu bar and its notifications, and the help of the command line. The words
// are in tray.json and help.json of each language's folder, beside those of the page,
// so that there is one catalogue to translate; how the page reads it is in
// words.svelte.ts. It does not decide what is said, and it does not ask the system for
// a language.
package i18n

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"regexp"
	"strings"
	"time"

	"golang.org/x/text/feature/plural"
	"golang.org/x/text/language"
)

//go:embed */tray.json
var files embed.FS

// The languages of names and rights. What is said in them stands between these marks,
// so that a name or path of the other direction does not move the words around it.
const (
	firstStrong        = "\u2068"
	rightToLeftIsolate = "\u2067" // whatever letter it begins with
	popIsolate         = "\u2069"
)

// English is spoken where no other language fits.
const English = "en"

// Words are those of one language.
type Words struct {
	tag          language.Tag
	own, english map[string]string
	rightToLeft  bool
}

// Open takes the words of the icon in the first of the wanted languages (BCP 47, such
// as "pt-BR", or the system's "pt_BR.UTF-8") that there are words for in the same
// writing, or English.
func Open(wanted ...string) *Words {
	w, err := open(files, "tray.json", wanted)
	if err != nil { // they are built in, and a test reads all
		panic(fmt.Sprintf("the words of the icon: %v", err))
	}
	return w
}

// OpenHelp takes the words of the command line's help; its keys are the commands, such
// as "cron add", and their flags. They are read from files, which has a folder for each
// language as here, so that programs that do not need them do not carry them.
func OpenHelp(files fs.FS, wanted ...string) (*Words, error) { return open(files, "help.json", wanted) }

func open(files fs.FS, part string, wanted []string) (*Words, error) {
	w := &Words{tag: language.English}
	err := read(files, English, part, &w.own)
	if err != nil {
		return nil, err
	}
	w.english = w.own
	for _, want := range wanted {
		want, _, _ = strings.Cut(want, ".")
		if name, ok := pick(files, want); ok {
			w.tag, w.own = language.MustParse(name), nil
			w.rightToLeft = name == "ar" || name == "he"
			return w, read(files, name, part, &w.own)
		}
	}
	return w, nil
}

// pick finds the language for one that is wanted.
func pick(files fs.FS, want string) (name string, ok bool) {
	tag, err := language.Parse(want)
	if err != nil || tag == language.Und {
		return "", false
	}
	folders, err := fs.ReadDir(files, ".")
	if err != nil {
		return "", false
	}
	var tags []language.Tag // every folder has every part, as a test says
	for _, f := range folders {
		if tag, err := language.Parse(f.Name()); err == nil && f.IsDir() {
			tags = append(tags, tag)
		}
	}
	if len(tags) == 0 {
		return "", false
	}
	_, i, sure := language.NewMatcher(tags).Match(tag)
	return tags[i].String(), sure >= language.High // another writing is no match
}

func read(files fs.FS, name, part string, words *map[string]string) error {
	raw, err := fs.ReadFile(files, name+"/"+part)
	if err == nil {
		err = json.Unmarshal(raw, words)
	}
	if err != nil {
		return fmt.Errorf("read the words of %s: %w", name, err)
	}
	return nil
}

// English is all that is said in it, by its keys. Nobody changes it.
func (w *Words) English() map[string]string { return w.english }

// Language is the one that is spoken, as its folder is called.
func (w *Words) Language() string { return w.tag.String() }

var slot = regexp.MustCompile(`\{(\w+)(?:, plural, ((?:\w+ \{[^}]*\} ?)+))?\}`)

// Say is what stands under a key. args are names and values by turns: {name} becomes
// the value of that name, and {n, plural, one {a day} other {# days}} what the
// language says for an int.
func (w *Words) Say(key string, args ...any) string {
	s, ok := w.own[key]
	if !ok {
		if s, ok = w.english[key]; !ok {
			return key
		}
	}
	if len(args) == 0 {
		return s
	}
	var b strings.Builder
	at := 0
	for _, m := range slot.FindAllStringSubmatchIndex(s, -1) {
		value, ok := argument(s[m[2]:m[3]], args)
		if !ok {
			continue
		}
		forms := ""
		if m[4] >= 0 {
			forms = s[m[4]:m[5]]
		}
		b.WriteString(s[at:m[0]])
		b.WriteString(w.put(value, forms, strings.Count(s[:m[0]], "`")%2 == 1))
		at = m[1]
	}
	return b.String() + s[at:]
}

// argument is the one of a name.
func argument(name string, args []any) (value any, ok bool) {
	for i := 0; i+1 < len(args); i += 2 {
		if args[i] == name {
			return args[i+1], true
		}
	}
	return nil, false
}

var form = regexp.MustCompile(`(\w+) \{([^}]*)\}`)

// put is a value in its place. In code, between backquotes, it is copied as it is.
func (w *Words) put(value any, forms string, code bool) string {
	n, counts := value.(int)
	if !counts {
		s := fmt.Sprint(value)
		if code || strings.HasPrefix(s, rightToLeftIsolate) {
			return s
		}
		return w.foreign(s)
	}
	if forms == "" {
		return fmt.Sprint(n)
	}
	want, text := formNames[plural.Cardinal.MatchPlural(w.tag, n, 0, 0, 0, 0)], ""
	for _, m := range form.FindAllStringSubmatch(forms, -1) {
		if m[1] == want || m[1] == "other" && text == "" {
			text = m[2]
		}
	}
	return strings.ReplaceAll(text, "#", fmt.Sprint(n))
}

// foreign is what is not in the language, between words that are.
func (w *Words) foreign(s string) string {
	if !w.rightToLeft || s == "" {
		return s
	}
	core := strings.TrimSpace(s) // spaces at its ends part it from the other words
	before, after, _ := strings.Cut(s, core)
	return before + firstStrong + core + popIsolate + after
}

var formNames = map[plural.Form]string{plural.Other: "other", plural.Zero: "zero", plural.One: "one", plural.Two: "two",
	plural.Few: "few", plural.Many: "many"}

// Clock is a time of the day, with the day of the week where it is not the day of
// now, and with the date where it is more than six days away.
func (w *Words) Clock(at, now time.Time) string {
	clock := at.Format("15:04")
	day := func(t time.Time) time.Time { return time.Date(t.Year(), t.Month(), t.Day(), 12, 0, 0, 0, time.UTC) }
	switch away := day(at).Sub(day(now.In(at.Location()))).Abs(); {
	case away < 24*time.Hour:
		return clock
	case away < 7*24*time.Hour:
		return w.Say("day", "weekday", w.nth("weekdays", int(at.Weekday())), "time", clock)
	}
	return w.Say("date", "day", at.Day(), "month", w.nth("months", int(at.Month())-1), "time", clock)
}

// nth is a word of a list.
func (w *Words) nth(key string, n int) string {
	list := strings.Fields(w.Say(key))
	if n >= len(list) {
		return ""
	}
	return list[n]
}
