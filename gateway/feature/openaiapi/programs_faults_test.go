package openaiapi_test

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
)

// What goes wrong at a model service reaches a program in words for programs, and with
// the time after which another try makes sense.
func TestProgramsLearnWhyAndWhen(t *testing.T) {
	r := gatewaytest.New(t, "chat/echo")
	app := gatewaytest.ProgramOf(t, r, r.Connect(), "notebook")
	for _, x := range []struct {
		model       string
		status      int
		least, most int // of Retry-After; 0: there is none
		forbidden   bool
		words       string
	}{
		{"fault-429", 429, 0, 0, false, "Try again in a minute"},
		{"fault-429-50", 429, 40, 50, false, "Try again in 50 seconds"},
		{"fault-429-300", 429, 290, 300, true, "Try again in 5 minutes"},
		{"fault-cut-2", 502, 0, 0, true, "broke off before the answer was complete. Send the request again."},
		{"fault-500", 502, 0, 0, true, "Send the request again"},
	} {
		body := gatewaytest.Said{"model": "chat/" + x.model, "messages": []any{gatewaytest.UserSays("x")}}
		resp, err := http.DefaultClient.Do(app.Request(t.Context(), "POST", "/chat/completions", body))
		if err != nil {
			t.Fatal(err)
		}
		raw, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		after, _ := strconv.Atoi(resp.Header.Get("Retry-After"))
		if resp.StatusCode != x.status || after < x.least || after > x.most ||
			(resp.Header.Get("X-Should-Retry") == "false") != x.forbidden || !strings.Contains(string(raw), x.words) ||
			strings.Contains(string(raw), "is kept") || strings.Contains(string(raw), "the message again") {
			t.Errorf("%s: %d %v %s", x.model, resp.StatusCode, resp.Header, raw)
		}
	}
	// A content filter is no end like others.
	body := gatewaytest.Said{"model": "chat/fault-refusal", "input": "x"}
	if status, answer, raw := app.Do("POST", "/responses", body); status != 200 || answer["status"] != "incomplete" ||
		!strings.Contains(raw, `"incomplete_details":{"reason":"content_filter"}`) {
		t.Errorf("%d %s", status, raw)
	}
}
