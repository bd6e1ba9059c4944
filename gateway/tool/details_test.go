package tool

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestDetailsAreBounded(t *testing.T) {
	long := `"` + strings.Repeat("x", MaxDetailsBytes) + `"`
	many := strings.Repeat(`{"a":`, 40_000) + "1" + strings.Repeat("}", 40_000)
	for in, want := range map[string]string{
		"":                                       "",
		`{"exitCode":1}`:                         `{"exitCode":1}`,
		`{"diff":` + long + `,"exitCode":1}`:     `{"detailsTruncated":true,"exitCode":1}`,
		`{"diff":` + long + `,"b":` + long + `}`: `{"detailsTruncated":true}`,
		`[` + long + `]`:                         `{"detailsTruncated":true}`,
		`{"` + long[1:] + `:1}`:                  `{"detailsTruncated":true}`,
		many:                                     `{"detailsTruncated":true}`,
	} {
		got := bound(json.RawMessage(in))
		if string(got) != want || len(got) > MaxDetailsBytes || len(got) > 0 && !json.Valid(got) {
			t.Errorf("%.40s…: %.80s", in, got)
		}
	}
}
