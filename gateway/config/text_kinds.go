package config

import (
	"errors"
	"net/url"
	"path/filepath"
	"strings"
	"time"
)

// What texts may have to be: for Text.Is and Texts.Is. Each returns the text as it
// is used, or what is wrong with it.

// WebAddress is the address of a service: http or https, without a name or
// password in it and without / at its end.
func WebAddress(s string) (string, error) {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return "", errors.New("expected a web address that starts with http:// or https://")
	}
	if u.User != nil {
		return "", errors.New("a name or password may not stand in the address; use apiKey")
	}
	return strings.TrimRight(s, "/"), nil
}

// TimeOfDay is "08:00" up to "24:00".
func TimeOfDay(s string) (string, error) {
	s = strings.TrimSpace(s)
	if _, ok := MinuteOfDay(s); !ok {
		return "", errors.New("write a time of day like \"08:00\", \"24:00\" at most")
	}
	return s, nil
}

// MinuteOfDay reads "08:00".
func MinuteOfDay(s string) (int, bool) {
	if s == "24:00" {
		return 24 * 60, true
	}
	at, err := time.Parse("15:04", s)
	return at.Hour()*60 + at.Minute(), err == nil && len(s) == 5
}

// Folder is a path that means the same wherever Hearth was started.
func Folder(s string) (string, error) {
	s = strings.TrimSpace(s)
	if s != "~" && !strings.HasPrefix(s, "~/") && !filepath.IsAbs(s) {
		return "", errors.New("write the whole path, or one that begins with ~/")
	}
	return s, nil
}

// ModelName is "provider/model".
func ModelName(s string) (string, error) {
	s = strings.TrimSpace(s)
	provider, model, ok := strings.Cut(s, "/")
	if !ok || !ProviderName(provider) || model == "" {
		return "", errors.New("a model is named \"provider/model\", for example \"ollama/llama3.2\"")
	}
	return s, nil
}

// ProviderName tells the part of "provider/model" before the first slash.
func ProviderName(s string) bool {
	return s != "" && len(s) <= 64 && !strings.ContainsFunc(s, func(r rune) bool {
		return r == '/' || r == '\\' || r <= ' ' || r == 0x7f
	})
}

// Timezone reads a name of the time zone database, or one of the words. A zone
// that only this machine does not know is no mistake of the file, which may come from
// another one.
func Timezone(words ...string) func(Value) string {
	return func(v Value) string {
		s := strings.TrimSpace(v.Text(64))
		for _, w := range words {
			if strings.EqualFold(s, w) {
				return w
			}
		}
		if s == "" {
			return ""
		}
		if _, err := time.LoadLocation(s); err != nil || s == "Local" {
			v.Doubt("this time zone is not known here; write one like Europe/Vienna")
			v.Warn("this time zone is not known here, so this machine's is used; write one like Europe/Vienna")
		}
		return s
	}
}

// VariableName says what is wrong with the name of an environment variable.
func VariableName(s string) error {
	if !envName(s) {
		return errors.New("the name of a variable has only letters, digits and _")
	}
	return nil
}

// HeaderName says what is wrong with the name of a header of HTTP.
func HeaderName(s string) error {
	odd := func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_')
	}
	if s == "" || len(s) > 64 || strings.ContainsFunc(s, odd) {
		return errors.New("the name of a header has only letters, digits and -")
	}
	return nil
}
