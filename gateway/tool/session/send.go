package session

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hearth-assistant/hearth/gateway/model"
	"github.com/hearth-assistant/hearth/gateway/tool"
	"github.com/hearth-assistant/hearth/gateway/tool/untrusted"
)

//go:embed sessions_send.md
var sendDescription string

const (
	defaultWait = 30 * time.Second
	maxWait     = 10 * time.Minute
	maxText     = 64 << 10
)

type sendTool struct {
	sessions Sessions
	wrap     untrusted.Wrapper
}

func (t *sendTool) Spec() model.ToolSpec {
	return spec("sessions_send", sendDescription, `{"type":"object","properties":{`+
		`"sessionKey":{"type":"string"},`+
		`"message":{"type":"string"},`+
		`"timeoutSeconds":{"type":"number","description":"how long to wait for the reply, default 30, 0 = not at all"}},`+
		`"required":["sessionKey","message"],"additionalProperties":false}`)
}

func (t *sendTool) Run(ctx context.Context, call tool.Call) (tool.Result, error) {
	var raw struct {
		Key     string   `json:"sessionKey"`
		Message string   `json:"message"`
		Wait    *float64 `json:"timeoutSeconds"`
	}
	if err := readArgs(call.Args, &raw); err != nil {
		return tool.Result{}, err
	}
	switch {
	case raw.Key == "":
		return tool.Result{}, errors.New("sessionKey is missing; sessions_list tells the keys")
	case strings.TrimSpace(raw.Message) == "":
		return tool.Result{}, errors.New("the message is empty")
	case len(raw.Message) > maxText:
		return tool.Result{}, fmt.Errorf("the message has %d bytes, at most %d can be sent", len(raw.Message), maxText)
	}
	wait := defaultWait
	if raw.Wait != nil {
		wait = time.Duration(min(max(*raw.Wait, 0), maxWait.Seconds()) * float64(time.Second))
	}
	a, err := t.sessions.Send(ctx, call, raw.Key, raw.Message, wait)
	if err != nil {
		return tool.Result{}, err
	}
	res := tool.Result{Details: inJSON(a)}
	switch a.Status {
	case "ok":
		res.Text = t.wrap.Wrap("the reply of session "+raw.Key, a.Reply)
	case "accepted":
		res.Text = "The message was accepted there; nobody waits for the reply. sessions_history shows it later."
	case "timeout":
		res.Text = fmt.Sprintf("The message was accepted there and no reply came within %s. sessions_history shows it later; do not send it "+
			"again.", wait)
	default:
		return res, fmt.Errorf("the session %s could not answer: %s", raw.Key, a.Error)
	}
	return res, nil
}
