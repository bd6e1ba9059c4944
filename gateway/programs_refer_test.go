package gateway_test

import "testing"

func TestModelsByTheirEncodedNames(t *testing.T) {
	r := newRig(t, "chat/echo")
	app := programOf(t, r, r.connect(), "notebook")
	if status, answer, raw := app.do("GET", "/models/hearth%2Fmain", nil); status != 200 || answer["id"] != "hearth/main" {
		t.Errorf("%d %s", status, raw)
	}
}
