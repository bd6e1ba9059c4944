package gateway

import (
	"github.com/hearth-assistant/hearth/gateway/method"
)

// errors are what may leave the gateway of errors.
func (g *Gateway) errors() method.Errors {
	return method.Errors{Hide: &g.redactor, Damaged: method.DamagedWords}
}
