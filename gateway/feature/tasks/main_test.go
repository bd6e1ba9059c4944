package tasks_test

import (
	"testing"

	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
)

func TestMain(m *testing.M) { gatewaytest.Main(m) }
