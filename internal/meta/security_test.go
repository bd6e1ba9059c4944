package meta

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// TestSecurityNamesRealTests: docs/security.md has every row of its families,
// each with a test that exists or a reason.
func TestSecurityNamesRealTests(t *testing.T) {
	page := namesRealTests(t, "security.md")
	rows := map[string]string{}
	for _, line := range strings.Split(page, "\n") {
		if cells := strings.Split(line, "|"); len(cells) == 6 && regexp.MustCompile(`^ [AF]-`).MatchString(cells[1]) {
			id := strings.TrimSpace(cells[1])
			if rows[id] != "" {
				t.Errorf("%s stands there twice", id)
			}
			rows[id] = cells[4]
		}
	}
	for family, last := range map[string]int{"A-EXEC": 28, "A-FILE": 15, "A-SSRF": 12, "A-INJ": 10, "A-TTY": 3, "A-SEC": 13, "A-BOX": 12,
		"A-SKILL": 13, "F-PROV": 24} {
		for n := 1; n <= last; n++ {
			if id := fmt.Sprintf("%s-%02d", family, n); rows[id] == "" {
				t.Errorf("%s is missing", id)
			}
		}
	}
	for id, why := range rows {
		if !testNamed.MatchString(why) && !strings.Contains(why, "does not apply yet: ") {
			t.Errorf("%s has neither a test nor a reason", id)
		}
	}
}
