package setup

import (
	"strings"
	"time"
	"unicode"
)

// Kinds of a Choice, best first.
const (
	KindLocal   = "local"   // a model on this computer
	KindLogin   = "login"   // of another program on this computer
	KindKey     = "key"     // found in the environment
	KindAccount = "account" // that was added just now
)

// Choice is something that could answer.
type Choice struct {
	ID      string // names it in Use
	Kind    string
	Name    string // of the model or the program, for people
	Service string // for people
	Model   string // "provider/model"; of a login only known when it is taken
	Caution string // what a person should know before
}

// Download is a model that could be fetched onto this computer.
type Download struct {
	Model string
	Name  string
	Bytes int64
	RAM   int64 // bytes that the computer should have
}

// downloads lists what Ollama has of good small models that call tools, smallest
// first. Sizes are those of its library.
func downloads() []Download {
	const mb, gb = 1_000_000, 1_000_000_000
	return []Download{
		{"qwen3:0.6b", "Qwen 3 0.6B", 523 * mb, 2 * gb},
		{"qwen3:1.7b", "Qwen 3 1.7B", 1_400 * mb, 4 * gb},
		{"qwen2.5:3b", "Qwen 2.5 3B", 1_900 * mb, 7 * gb},
		{"qwen3:8b", "Qwen 3 8B", 5_200 * mb, 15 * gb},
		{"qwen3:14b", "Qwen 3 14B", 9_300 * mb, 30 * gb},
	}
}

// quickDownload is the most that the first offer may take.
const quickDownload = 2_000_000_000

// Offers is what fits this computer, the one to take first; ram 0 = not known.
// The first is the largest that is there within minutes.
func Offers(ram int64) []Download {
	var fit []Download
	best := 0
	for _, d := range downloads() {
		if ram > 0 && d.RAM > ram && len(fit) > 0 || ram == 0 && d.Bytes > quickDownload {
			break
		}
		if d.Bytes <= quickDownload {
			best = len(fit)
		}
		fit = append(fit, d)
	}
	first := fit[best]
	copy(fit[1:best+1], fit[:best])
	fit[0] = first
	return fit
}

// slowLine is how fast a download is taken to be before it has begun, in bytes a
// second: 50 Mbit/s.
const slowLine = 50_000_000 / 8

// Estimate is how long a download takes on an ordinary line.
func (d Download) Estimate() time.Duration {
	return time.Duration(d.Bytes/slowLine) * time.Second
}

// NameOf is how people call a model of Ollama: "qwen3:8b" is Qwen 3 8B. Other
// names stay as they are.
func NameOf(id string) string {
	family, size, ok := strings.Cut(id, ":")
	if !ok || strings.ContainsAny(family, "/_ ") || strings.IndexFunc(family, unicode.IsLetter) != 0 {
		return strings.TrimSuffix(id, ":latest")
	}
	at := strings.IndexFunc(family, unicode.IsDigit)
	if at < 0 {
		at = len(family)
	}
	words := []string{strings.ToUpper(family[:1]) + strings.TrimRight(family[1:max(1, at)], "-")}
	if at > 0 && at < len(family) {
		words = append(words, family[at:])
	}
	switch {
	case size == "latest":
	case strings.Trim(strings.TrimSuffix(size, "b"), "0123456789.") == "":
		words = append(words, strings.ToUpper(size))
	default:
		words = append(words, size)
	}
	return strings.Join(words, " ")
}
