package msteamstest

import (
	"net/http"
	"strings"
	"testing"
)

// TestUpload: the address for a file takes its ranges whole, in their order, and once.
func TestUpload(t *testing.T) {
	s, err := New(t.Context(), "/")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	const unit = 320 << 10
	where := s.URL() + "/contoso.sharepoint.com" + uploadsAt + s.Upload("/x", 2*unit+1)
	for n, tc := range []struct {
		said  string
		bytes int
		token string
		want  int
	}{
		{"", unit, "", 400}, {"bytes 0-9", 10, "", 400}, {"bytes=0-327679/655361", unit, "", 400}, {"bytes 9-0/655361", 1, "", 400},
		{"bytes 0-327679/655361", unit - 1, "", 400},     // another length
		{"bytes 0-327678/655361", unit - 1, "", 400},     // no multiple of 320 KiB
		{"bytes 0-327679/655362", unit, "", 400},         // another file
		{"bytes 0-327679/655361", unit, "Bearer x", 401}, // a token, which goes nowhere else
		{"bytes 327680-655359/655361", unit, "", 416},    // not in its order
		{"bytes 0-327679/655361", unit, "", 202},
		{"bytes 0-327679/655361", unit, "", 416}, // once more
		{"bytes 327680-655360/655361", unit + 1, "", 201},
		{"bytes 327680-655360/655361", unit + 1, "", 404}, // the address is used up
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPut, where, strings.NewReader(strings.Repeat("x", tc.bytes)))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Range", tc.said)
		if tc.token != "" {
			req.Header.Set("Authorization", tc.token)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != tc.want {
			t.Errorf("%d: %s with %d bytes: %d, want %d", n, tc.said, tc.bytes, resp.StatusCode, tc.want)
		}
	}
	if all := s.Drive(); len(all) != 1 || len(all[0].Data) != 2*unit+1 {
		t.Errorf("%d files", len(all))
	}
}
