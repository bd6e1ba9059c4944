package sections_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/reach"
)

func TestAllowedOrigins(t *testing.T) {
	const key = "{ gateway: { controlUi: { allowedOrigins: %s } } }"
	text := strings.Replace(key, "%s", "['http://127.0.0.1:8080', 'HTTPS://Hearth.example']", 1)
	got := reach.Section.Of(open(t, place(t, text)).Snapshot().Config).Origins
	if want := []string{"http://127.0.0.1:8080", "https://hearth.example"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	for _, bad := range []string{"*", "https://*.example", "http://a.example/", "http://a.example/path", "a.example", "file://", "null",
		"http://u:p@a.example", "http://a.example?x"} {
		if s := open(t, place(t, strings.Replace(key, "%s", "['"+bad+"']", 1))).Snapshot(); s.Valid ||
			len(reach.Section.Of(s.Config).Origins) > 0 {
			t.Errorf("%q is taken", bad)
		}
	}
}
