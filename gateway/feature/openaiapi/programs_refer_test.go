package openaiapi_test

import (
	"testing"

	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
)

func TestModelsByTheirEncodedNames(t *testing.T) {
	r := gatewaytest.New(t, "chat/echo")
	app := gatewaytest.ProgramOf(t, r, r.Connect(), "notebook")
	if status, answer, raw := app.Do("GET", "/models/hearth%2Fmain", nil); status != 200 || answer["id"] != "hearth/main" {
		t.Errorf("%d %s", status, raw)
	}
}
