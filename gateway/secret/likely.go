package secret

import (
	"regexp"
	"strings"
)

// What has to be guessed, because nobody said that it is a secret: by the name of
// a key or variable, and by how a text looks.

// Named reports whether a key of settings names a secret. Plural "tokens" is a
// count.
func Named(key string) bool {
	if strings.HasSuffix(key, "_KEY") || strings.HasSuffix(key, "_PAT") {
		return true // environment style: SOME_KEY
	}
	k := strings.NewReplacer("-", "", "_", "", ".", "").Replace(strings.ToLower(key))
	for _, end := range []string{"token", "password", "passwd", "passphrase", "secret", "apikey", "accesskey",
		"privatekey", "secretkey", "credential", "credentials", "authorization", "cookie", "secrets", "passwords",
		"apikeys", "webhookurl", "headers"} {
		if strings.HasSuffix(k, end) {
			return true
		}
	}
	return false
}

// Likely reports whether a header or variable is a secret, by its name or else by
// its value.
func Likely(name, value string) bool { return Named(name) || passwordName(name) || keyLike(value) }

// passwordName tells the short forms that people write variables with.
func passwordName(name string) bool {
	name = strings.ToLower(name)
	for _, end := range []string{"pw", "pwd", "pass", "passcode", "auth"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return false
}

// keyLike tells a value that can hardly be anything but a key: by a known shape,
// or as one long word of letters and digits that is no path and no address.
func keyLike(value string) bool {
	value = strings.TrimSpace(value)
	if Shaped().MatchString(value) {
		return true
	}
	_, word, ok := strings.Cut(value, " ") // "Bearer …"
	if !ok {
		word = value
	}
	return len(word) >= 20 && long.MatchString(word) && strings.ContainsAny(word, "0123456789") && strings.ContainsAny(strings.ToLower(word),
		"abcdefghijklmnopqrstuvwxyz") && !uuid.MatchString(word)
}

var (
	shaped = regexp.MustCompile(
		`\b(sk|pk|rk|ghp|gho|ghs|github_pat|xox[a-z]|hf|gsk|AIza|glpat|npm|r8)[-_][A-Za-z0-9_\-]{12,}|\bAIza[A-Za-z0-9_\-]{20,}|\bAKIA[A-Z0-9]{12,}|eyJ[A-Za-z0-9_\-]{16,}\.[A-Za-z0-9_\-.]+|://[^/\s:@'"]*:[^/\s@'"]+@`)
	assignment = regexp.MustCompile(
		`(?i)[A-Za-z0-9_\-]*(token|password|passwd|passphrase|secret|api_?-?key|private_?-?key|access_?-?key|authorization|cookie|credentials?)["']?\s*[:=]`)
	long = regexp.MustCompile(`^[A-Za-z0-9_\-+=]+$`)
	uuid = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)
)

// Shaped finds well-known shapes of keys in any text, and names and passwords
// inside web addresses.
func Shaped() *regexp.Regexp { return shaped }

// Assigned finds the name of a secret with what gives it a value, as in settings
// that were commented out: apiKey: "…".
func Assigned() *regexp.Regexp { return assignment }
