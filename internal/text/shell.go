package text

import "strings"

// ShellWord is s as one word of a command that a person copies into a shell. What
// shells give a meaning ("!", "~", "^", a space) stands within single quotes.
func ShellWord(s string) string {
	if s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@._+:/-") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
