package mcp

import (
	"fmt"
	"regexp"
)

// refusal is how systems and languages say that something may not be touched.
var refusal = regexp.MustCompile(`\bEACCES\b|\bEPERM\b|(?i:permission denied)|(?i:operation not permitted)|(?i:access is denied)`)

// confined says what a person can do when a program in the sandbox was refused
// something; "" when its words tell of no such thing.
func (s Server) confined(words string) string {
	if !s.Confined || !refusal.MatchString(words) {
		return ""
	}
	return fmt.Sprintf("Hearth runs it in a sandbox, which may be why. `hearth mcp allow %s --read FOLDER` (or --write FOLDER) lets it use "+
		"more; `hearth mcp test %s` shows what it may use now", s.ID, s.ID)
}
