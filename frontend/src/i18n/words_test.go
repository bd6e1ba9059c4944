package i18n

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
	"time"
)

func TestPick(t *testing.T) {
	for want, got := range map[string]string{
		"de": "de", "de_AT.UTF-8": "de", "pt-BR": "pt", "pt_PT": "pt", "zh_CN.UTF-8": "zh-CN", "zh-SG": "zh-CN", "en_GB": "en", "he_IL": "he",
		"zh-TW": "en", "C": "en", "C.UTF-8": "en", "POSIX": "en", "": "en", "sv_SE": "en", "no such": "en", "ar-EG": "ar",
	} {
		if l := Open(want).Language(); l != got {
			t.Errorf("%q: %s, want %s", want, l, got)
		}
	}
	if l := Open("sv", "nb", "fr_CA.UTF-8", "de").Language(); l != "fr" {
		t.Errorf("the first that is there is %s", l)
	}
}

func TestSay(t *testing.T) {
	for _, tc := range []struct {
		language, key string
		args          []any
		want          string
	}{
		{"en", "status.requests", []any{"n", 1}, "Needs you: 1 request"},
		{"en", "status.requests", []any{"n", 5}, "Needs you: 5 requests"},
		{"de", "status.requests", []any{"n", 5}, "Braucht dich: 5 Anfragen"},
		{"pl", "status.requests", []any{"n", 3}, "Potrzebuje cię: 3 prośby"},
		{"pl", "status.requests", []any{"n", 12}, "Potrzebuje cię: 12 próśb"},
		{"ru", "status.requests", []any{"n", 21}, "Нужны вы: 21 запрос"},
		{"ja", "status.requests", []any{"n", 1}, "確認が必要です: 依頼 1 件"},
		{"ar", "status.requests", []any{"n", 2}, "يحتاج إليك: طلبان"},
		{"ar", "status.lost.why", []any{"why", "port 1"}, "لا يعمل: \u2068port 1\u2069"},
		{"fr", "status.lost.why", []any{"why", "{n}"}, "Pas en marche : {n}"},
		{"en", "next", []any{"what", "mail"}, "Next  {time}  mail"},
		{"en", "no such key", nil, "no such key"},
	} {
		if got := Open(tc.language).Say(tc.key, tc.args...); got != tc.want {
			t.Errorf("%s %s %v: %q, want %q", tc.language, tc.key, tc.args, got, tc.want)
		}
	}
}

func TestClock(t *testing.T) {
	now := time.Date(2026, 3, 4, 22, 0, 0, 0, time.UTC) // a Wednesday
	for _, tc := range []struct {
		language string
		in       time.Duration
		want     string
	}{
		{"en", time.Hour, "23:00"}, {"en", 3 * time.Hour, "Thu 01:00"}, {"en", 9 * 24 * time.Hour, "13 Mar 22:00"},
		{"de", -24 * time.Hour, "Di 22:00"}, {"ja", 9 * 24 * time.Hour, "3月13日 22:00"}, {"ru", 30 * 24 * time.Hour, "3 апр. 22:00"},
	} {
		if got := Open(tc.language).Clock(now.Add(tc.in), now); got != tc.want {
			t.Errorf("%s in %s: %q, want %q", tc.language, tc.in, got, tc.want)
		}
	}
}

// Every language has all days and months, and is read.
func TestEveryLanguage(t *testing.T) {
	folders, err := fs.Glob(files, "*/tray.json")
	if err != nil || len(folders) != 15 {
		t.Fatalf("%d languages, %v", len(folders), err)
	}
	for _, f := range folders {
		w := Open(path.Dir(f))
		if w.Language() != path.Dir(f) {
			t.Errorf("%s is not picked for itself but %s", f, w.Language())
		}
		for key, n := range map[string]int{"weekdays": 7, "months": 12} {
			if got := len(strings.Fields(w.Say(key))); got != n {
				t.Errorf("%s: %d %s", f, got, key)
			}
		}
	}
}

// Every key is said by the icon, and every key that it says is there.
func TestEveryKeyIsSaid(t *testing.T) {
	var programs strings.Builder
	own := os.DirFS("../../..")
	err := fs.WalkDir(own, "app/tray", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") {
			return err
		}
		b, err := fs.ReadFile(own, name)
		programs.Write(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	said := map[string]bool{"day": true, "date": true, "weekdays": true, "months": true} // by Clock
	for _, m := range regexp.MustCompile(`\.Say\("([^"]+)"`).FindAllStringSubmatch(programs.String(), -1) {
		said[m[1]] = true
	}
	words := Open().English()
	for key := range words {
		if !said[key] {
			t.Errorf("%s is said nowhere", key)
		}
	}
	for key := range said {
		if words[key] == "" {
			t.Errorf("%s is said, and is no word", key)
		}
	}
}
