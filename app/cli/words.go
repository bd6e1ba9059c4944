package cli

import (
	"fmt"
	"strconv"
	"sync"
	"time"

	i18n "github.com/hearth-assistant/hearth/frontend/src/i18n"
)

// errorWords says what went wrong in the language of the person. Programs, which ask for
// JSON, are told in English.
func (a *app) errorWords() func(string) string {
	open := sync.OnceValue(func() *i18n.Texts { return inLanguage(a, i18n.OpenErrors) }) // most have nothing to say
	return func(text string) string {
		if a.asJSON || text == "" || open() == nil {
			return text
		}
		return open().Say(text)
	}
}

// say is a text of the program in the language of the person, where the catalogue has
// it: what commands and settings of networks are, and what is said while one is set up.
// One goroutine calls it.
func (a *app) say(text string) string {
	if a.about == nil {
		a.about = inLanguage(a, i18n.OpenAbout)
	}
	if a.about == nil {
		return text
	}
	return a.about.Say(text)
}

// span is a duration as people say it: the two largest units.
func span(d time.Duration) string {
	d = d.Round(time.Second)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return units(int(d.Minutes()), "min", int(d.Seconds())%60, "s")
	case d < 24*time.Hour:
		return units(int(d.Hours()), "h", int(d.Minutes())%60, "min")
	}
	return units(int(d.Hours())/24, "d", int(d.Hours())%24, "h")
}

func units(n int, unit string, m int, smaller string) string {
	if m == 0 {
		return fmt.Sprintf("%d %s", n, unit)
	}
	return fmt.Sprintf("%d %s %d %s", n, unit, m, smaller)
}

// size is a number of bytes as people say it.
func size(n int64) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d B", n)
	case n < 1<<20:
		return fmt.Sprintf("%.1f KB", float64(n)/(1<<10))
	case n < 1<<30:
		return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%.1f GB", float64(n)/(1<<30))
}

// count is "1 message", "2 messages".
func count(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + one + "s"
}

// stamp is a time in the person's zone.
func stamp(ms int64) string {
	if ms == 0 {
		return "-"
	}
	return time.UnixMilli(ms).Format("2006-01-02 15:04")
}
