package method

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/secret/redact"
	"github.com/hearth-assistant/hearth/gateway/server"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// Errors are what may leave the gateway of errors, whoever asked.
type Errors struct {
	Hide    *redact.Redactor // knows secrets
	Damaged string           // what is said when the store is damaged
}

// Out is an error without secrets.
func (e Errors) Out(err error) error {
	if errors.Is(err, store.ErrDamaged) {
		return &protocol.Error{Code: protocol.CodeUnavailable, Message: e.Damaged}
	}
	var pe *protocol.Error
	if !errors.As(err, &pe) || !e.Hide.Has(pe.Message) {
		return err
	}
	out := *pe
	out.Message = e.Hide.Text(pe.Message)
	return &out
}

// Handlers are methods by their names, with secrets in their errors hidden.
func (e Errors) Handlers(all []Method) map[string]server.Handler {
	out := make(map[string]server.Handler, len(all))
	for _, m := range all {
		out[m.Name] = func(ctx context.Context, c *server.Caller, raw json.RawMessage) (any, error) {
			res, err := m.Answer(ctx, c, raw)
			return res, e.Out(err)
		}
	}
	return out
}
