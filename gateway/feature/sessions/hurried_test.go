package sessions_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/hearth-assistant/hearth/gateway/gatewaytest"
	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// hurried is the context of a caller that waits for no answer.
type hurried struct{ context.Context }

func (hurried) Done() <-chan struct{} {
	done := make(chan struct{})
	close(done)
	return done
}

// A page that is closed says what its person deleted as its last words.
func TestDeletionOutlivesItsConnection(t *testing.T) {
	r := gatewaytest.New(t, "chat/echo")
	p := r.Connect()
	for i := range 10 {
		key := fmt.Sprintf("agent:main:chat:%d", i)
		p.Say(key, key, "hello")
		page := r.Connect()
		_ = page.Call(hurried{t.Context()}, protocol.MethodSessionsDelete, protocol.SessionsDeleteParams{Key: key}, nil)
		_ = page.Close()
	}
	gatewaytest.WaitFor(t, "every chat is deleted", func() bool {
		var list protocol.SessionsList
		p.Do(protocol.MethodSessionsList, protocol.SessionsListParams{}, &list)
		return len(list.Sessions) == 0
	})
}
