package acp

import (
	"context"

	sdk "github.com/coder/acp-go-sdk"
)

// What editors may ask for and Hearth does not have.

// Authenticate implements sdk.Agent: the gateway's own token has done it.
func (a *Agent) Authenticate(context.Context, sdk.AuthenticateRequest) (sdk.AuthenticateResponse, error) {
	return sdk.AuthenticateResponse{}, nil
}

// SetSessionMode implements sdk.Agent.
func (a *Agent) SetSessionMode(context.Context, sdk.SetSessionModeRequest) (sdk.SetSessionModeResponse, error) {
	return sdk.SetSessionModeResponse{}, sdk.NewMethodNotFound(sdk.AgentMethodSessionSetMode)
}
