package turn

import (
	"errors"
	"fmt"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/provider"
	"github.com/hearth-assistant/hearth/gateway/provider/failover"
	"github.com/hearth-assistant/hearth/gateway/secret"
)

// A failure carries what repairs it, also from inside other errors.
func TestRepair(t *testing.T) {
	tried := func(reasons ...failover.Reason) error {
		s := &failover.SummaryError{}
		for _, r := range reasons {
			s.Attempts = append(s.Attempts, failover.Attempt{Reason: r})
		}
		return s
	}
	for _, c := range []struct {
		err  error
		want protocol.Repair
	}{
		{fmt.Errorf("ask: %w", &model.Error{Class: model.ClassAuth}), protocol.RepairKey},
		{&provider.UnavailableError{Class: model.ClassAuth}, protocol.RepairKey},
		{&provider.UnavailableError{Class: model.ClassNoModel}, protocol.RepairModel},
		{&model.Error{Class: model.ClassBilling}, protocol.RepairModel},
		{&model.Error{Class: model.ClassOverloaded}, protocol.RepairRetry},
		{fmt.Errorf("key: %w", secret.ErrLocked), protocol.RepairUnlock},
		{tried(failover.ReasonAuth, failover.ReasonAuth), protocol.RepairKey},
		{tried(failover.ReasonAuth, failover.ReasonTimeout), protocol.RepairRetry},
		{tried(failover.ReasonAuth, failover.ReasonBilling), protocol.RepairModel},
		{errors.New("strange"), protocol.RepairRetry},
	} {
		if got := repairOf(c.err); got != c.want {
			t.Errorf("%v: %q, want %q", c.err, got, c.want)
		}
	}
}
