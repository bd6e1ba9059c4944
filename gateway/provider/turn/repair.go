package turn

import (
	"errors"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/provider"
	"github.com/hearth-assistant/hearth/gateway/provider/failover"
	"github.com/hearth-assistant/hearth/gateway/secret"
)

// repairOf is what a person can do about a model that did not answer.
func repairOf(err error) protocol.Repair {
	var (
		u *provider.UnavailableError
		e *model.Error
		s *failover.SummaryError
	)
	switch {
	case errors.Is(err, secret.ErrLocked):
		return protocol.RepairUnlock
	case errors.As(err, &s):
		return ofAttempts(s.Attempts)
	case errors.As(err, &u):
		return ofClass(u.Class)
	case errors.As(err, &e):
		return ofClass(e.Class)
	}
	return protocol.RepairRetry
}

func ofClass(c model.Class) protocol.Repair {
	switch c {
	case model.ClassAuth:
		return protocol.RepairKey
	case model.ClassBilling, model.ClassNoModel, model.ClassInvalid, model.ClassContext, model.ClassRefusal:
		return protocol.RepairModel
	}
	return protocol.RepairRetry
}

// ofAttempts: when several were asked, a key is what is missing only if it is
// missing everywhere; what passes by itself is tried again.
func ofAttempts(list []failover.Attempt) protocol.Repair {
	keys, passing := 0, 0
	for _, a := range list {
		switch a.Reason {
		case failover.ReasonAuth:
			keys++
		case failover.ReasonRateLimit, failover.ReasonOverloaded, failover.ReasonTimeout, failover.ReasonEmpty, failover.ReasonUnknown:
			passing++
		}
	}
	switch {
	case len(list) > 0 && keys == len(list):
		return protocol.RepairKey
	case passing > 0:
		return protocol.RepairRetry
	}
	return protocol.RepairModel
}
