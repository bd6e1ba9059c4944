package wire

import (
	"net/http"

	"github.com/hearth-assistant/hearth/gateway/model"
)

// classifyOf is classify with what only one service means by its words.
func classifyOf(service string, status int, body []byte) model.Class {
	has := saying(body)
	if service == "openrouter" {
		switch {
		case status == http.StatusForbidden && has([]string{"key limit exceeded"}):
			return model.ClassBilling
		case (status == 0 || status == http.StatusBadRequest) && has([]string{"provider returned error"}) &&
			classify(0, body) == model.ClassServer:
			return model.ClassTimeout // somebody behind it failed, nobody says how
		}
	}
	return classify(status, body)
}
