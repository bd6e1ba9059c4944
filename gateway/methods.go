package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"maps"

	"github.com/hearth-assistant/hearth/gateway/config"
	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/secret"
	"github.com/hearth-assistant/hearth/gateway/server"
	"github.com/hearth-assistant/hearth/gateway/session"
	"github.com/hearth-assistant/hearth/gateway/store"
)

// handlers is the whole surface; protocol.Methods has the scope of each.
func (g *Gateway) handlers() map[string]server.Handler {
	all := g.accountHandlers()
	maps.Copy(all, map[string]server.Handler{
		protocol.MethodHealth:         plain(protocol.MethodHealth, g.health),
		protocol.MethodStatus:         plain(protocol.MethodStatus, g.status),
		protocol.MethodSystemPresence: plain(protocol.MethodSystemPresence, g.systemPresence),
		protocol.MethodLogsTail:       plain(protocol.MethodLogsTail, g.logsTail),
		protocol.MethodLaunchLink:     plain(protocol.MethodLaunchLink, g.launchLink),

		protocol.MethodConfigGet:   plain(protocol.MethodConfigGet, g.configGet),
		protocol.MethodConfigSet:   plain(protocol.MethodConfigSet, g.configSet),
		protocol.MethodConfigPatch: plain(protocol.MethodConfigPatch, g.configPatch),

		protocol.MethodAgentsList:       plain(protocol.MethodAgentsList, g.agentsList),
		protocol.MethodAgentIdentityGet: plain(protocol.MethodAgentIdentityGet, g.agentIdentity),
		protocol.MethodModelsList:       plain(protocol.MethodModelsList, g.modelsList),

		protocol.MethodChatSend:    deciding(protocol.MethodChatSend, g.chatSend),
		protocol.MethodChatHistory: plain(protocol.MethodChatHistory, g.chatHistory),
		protocol.MethodChatAbort:   plain(protocol.MethodChatAbort, g.chatAbort),
		protocol.MethodChatInject:  plain(protocol.MethodChatInject, g.chatInject),
		protocol.MethodAgent:       deciding(protocol.MethodAgent, g.agent),
		protocol.MethodAgentWait:   plain(protocol.MethodAgentWait, g.agentWait),

		protocol.MethodSessionsList:                plain(protocol.MethodSessionsList, g.sessionsList),
		protocol.MethodSessionsGet:                 plain(protocol.MethodSessionsGet, g.sessionsGet),
		protocol.MethodSessionsCreate:              plain(protocol.MethodSessionsCreate, g.sessionsCreate),
		protocol.MethodSessionsPatch:               plain(protocol.MethodSessionsPatch, g.sessionsPatch),
		protocol.MethodSessionsReset:               plain(protocol.MethodSessionsReset, g.sessionsReset),
		protocol.MethodSessionsDelete:              plain(protocol.MethodSessionsDelete, g.sessionsDelete),
		protocol.MethodSessionsDescribe:            plain(protocol.MethodSessionsDescribe, g.sessionsDescribe),
		protocol.MethodSessionsResolve:             plain(protocol.MethodSessionsResolve, g.sessionsResolve),
		protocol.MethodSessionsPreview:             plain(protocol.MethodSessionsPreview, g.sessionsPreview),
		protocol.MethodSessionsCompact:             plain(protocol.MethodSessionsCompact, g.sessionsCompact),
		protocol.MethodSessionsSearch:              plain(protocol.MethodSessionsSearch, g.sessionsSearch),
		protocol.MethodSessionsAbort:               plain(protocol.MethodSessionsAbort, g.sessionsAbort),
		protocol.MethodSessionsUsage:               plain(protocol.MethodSessionsUsage, g.sessionsUsage),
		protocol.MethodCommandsList:                plain(protocol.MethodCommandsList, g.commandsList),
		protocol.MethodChannelsStatus:              plain(protocol.MethodChannelsStatus, g.channelsStatus),
		protocol.MethodSecretsList:                 plain(protocol.MethodSecretsList, g.secretsList),
		protocol.MethodSecretsSet:                  plain(protocol.MethodSecretsSet, g.secretsSet),
		protocol.MethodSecretsRemove:               plain(protocol.MethodSecretsRemove, g.secretsRemove),
		protocol.MethodSecretsStatus:               plain(protocol.MethodSecretsStatus, g.secretsStatus),
		protocol.MethodSecretsUnlock:               plain(protocol.MethodSecretsUnlock, g.secretsUnlock),
		protocol.MethodSecretsMigrate:              plain(protocol.MethodSecretsMigrate, g.secretsMigrate),
		protocol.MethodSecretsReload:               plain(protocol.MethodSecretsReload, g.secretsReload),
		protocol.MethodContactsList:                plain(protocol.MethodContactsList, g.contactsList),
		protocol.MethodContactsResolve:             plain(protocol.MethodContactsResolve, g.contactsResolve),
		protocol.MethodContactsRemove:              plain(protocol.MethodContactsRemove, g.contactsRemove),
		protocol.MethodDeliveriesList:              plain(protocol.MethodDeliveriesList, g.deliveriesList),
		protocol.MethodDeliveriesResolve:           plain(protocol.MethodDeliveriesResolve, g.deliveriesResolve),
		protocol.MethodToolsCatalog:                plain(protocol.MethodToolsCatalog, g.toolsCatalog),
		protocol.MethodToolsEffective:              plain(protocol.MethodToolsEffective, g.toolsEffective),
		protocol.MethodToolsInvoke:                 called(protocol.MethodToolsInvoke, g.toolsInvoke),
		protocol.MethodExecApprovalRequest:         called(protocol.MethodExecApprovalRequest, g.approvalRequest),
		protocol.MethodExecApprovalWait:            plain(protocol.MethodExecApprovalWait, g.approvalWait),
		protocol.MethodExecApprovalResolve:         called(protocol.MethodExecApprovalResolve, g.approvalResolve),
		protocol.MethodExecApprovalList:            plain(protocol.MethodExecApprovalList, g.approvalList),
		protocol.MethodExecApprovalGet:             plain(protocol.MethodExecApprovalGet, g.approvalGet),
		protocol.MethodExecApprovalsGet:            plain(protocol.MethodExecApprovalsGet, g.execApprovalsGet),
		protocol.MethodExecApprovalsSet:            called(protocol.MethodExecApprovalsSet, g.execApprovalsSet),
		protocol.MethodApprovalsRules:              plain(protocol.MethodApprovalsRules, g.approvalRules),
		protocol.MethodApprovalsRemoveRule:         called(protocol.MethodApprovalsRemoveRule, g.approvalRemoveRule),
		protocol.MethodPauseGet:                    plain(protocol.MethodPauseGet, g.pauseGet),
		protocol.MethodPauseSet:                    called(protocol.MethodPauseSet, g.pauseSet),
		protocol.MethodAuditList:                   plain(protocol.MethodAuditList, g.auditList),
		protocol.MethodAuditVerify:                 plain(protocol.MethodAuditVerify, g.auditVerify),
		protocol.MethodUndoList:                    plain(protocol.MethodUndoList, g.undoList),
		protocol.MethodUndoPreview:                 plain(protocol.MethodUndoPreview, g.undoPreview),
		protocol.MethodUndoApply:                   plain(protocol.MethodUndoApply, g.undoApply),
		protocol.MethodWhy:                         plain(protocol.MethodWhy, g.why),
		protocol.MethodQueueEdit:                   plain(protocol.MethodQueueEdit, g.queueEdit),
		protocol.MethodMediaGet:                    plain(protocol.MethodMediaGet, g.mediaGet),
		protocol.MethodTranscriptExport:            plain(protocol.MethodTranscriptExport, g.transcriptExport),
		protocol.MethodSessionsSubscribe:           watchSessions(true),
		protocol.MethodSessionsUnsubscribe:         watchSessions(false),
		protocol.MethodSessionsMessagesSubscribe:   watchMessages(protocol.MethodSessionsMessagesSubscribe, true),
		protocol.MethodSessionsMessagesUnsubscribe: watchMessages(protocol.MethodSessionsMessagesUnsubscribe, false),
	})
	return all
}

// accountHandlers are about accounts at model services and what they cost.
func (g *Gateway) accountHandlers() map[string]server.Handler {
	return map[string]server.Handler{
		protocol.MethodModelsAuthStatus:    plain(protocol.MethodModelsAuthStatus, g.modelsAuthStatus),
		protocol.MethodModelsAuthLogout:    plain(protocol.MethodModelsAuthLogout, g.modelsAuthLogout),
		protocol.MethodModelsAuthOrderSet:  plain(protocol.MethodModelsAuthOrderSet, g.modelsAuthOrder),
		protocol.MethodModelsAuthSetAPIKey: plain(protocol.MethodModelsAuthSetAPIKey, g.modelsAuthSetKey),
		protocol.MethodModelsAuthLogin:     plain(protocol.MethodModelsAuthLogin, g.modelsAuthLogin),
		protocol.MethodModelsAuthWait:      plain(protocol.MethodModelsAuthWait, g.modelsAuthWait),
		protocol.MethodModelsAuthCancel:    plain(protocol.MethodModelsAuthCancel, g.modelsAuthCancel),
		protocol.MethodModelsAuthForeign:   plain(protocol.MethodModelsAuthForeign, g.modelsAuthForeign),
		protocol.MethodModelsAuthImport:    plain(protocol.MethodModelsAuthImport, g.modelsAuthImport),
		protocol.MethodModelsAuthAllow:     plain(protocol.MethodModelsAuthAllow, g.modelsAuthAllow),

		protocol.MethodModelsTest: plain(protocol.MethodModelsTest, g.modelsTest),
		protocol.MethodModelsPull: plain(protocol.MethodModelsPull, g.modelsPull),
		protocol.MethodDoctor:     plain(protocol.MethodDoctor, g.doctor),

		protocol.MethodUsageCost:   plain(protocol.MethodUsageCost, g.usageCost),
		protocol.MethodUsageStatus: plain(protocol.MethodUsageStatus, g.usageStatus),
		protocol.MethodUsageAllow:  plain(protocol.MethodUsageAllow, g.usageAllow),
	}
}

// plain is a handler of typed parameters.
func plain[P, R any](method string, fn func(context.Context, P) (R, error)) server.Handler {
	return func(ctx context.Context, _ *server.Caller, raw json.RawMessage) (any, error) {
		p, perr := protocol.DecodeParams[P](method, raw)
		if perr != nil {
			return nil, perr
		}
		res, err := fn(ctx, p)
		if err != nil {
			return nil, forClients(method, err)
		}
		return res, nil
	}
}

type none struct{}

func isAny(err error, targets ...error) bool {
	for _, t := range targets {
		if errors.Is(err, t) {
			return true
		}
	}
	return false
}

func watchSessions(on bool) server.Handler {
	return func(_ context.Context, c *server.Caller, _ json.RawMessage) (any, error) {
		c.WatchSessions(on)
		return protocol.SubscribeResult{Subscribed: on}, nil
	}
}

func watchMessages(method string, on bool) server.Handler {
	return func(_ context.Context, c *server.Caller, raw json.RawMessage) (any, error) {
		p, perr := protocol.DecodeParams[protocol.SessionKeyParams](method, raw)
		if perr != nil {
			return nil, perr
		}
		key, err := session.Canonical(p.Key, p.AgentID)
		if err != nil {
			return nil, forClients(method, err)
		}
		c.WatchMessages(key, on)
		return protocol.SubscribeResult{Subscribed: on, Key: key}, nil
	}
}

// forClients gives errors of the rooms their form on the wire.
func forClients(method string, err error) error {
	var pe *protocol.Error
	switch {
	case errors.As(err, &pe):
		return pe
	case errors.Is(err, session.ErrBadKey):
		return protocol.InvalidParams(method, "%v", err)
	case errors.Is(err, session.ErrNotFound):
		return protocol.Invalid("%v", err).With("code", "NOT_FOUND")
	case errors.Is(err, session.ErrConflict):
		return protocol.Invalid("%v. Use a new key for a new message.", err).With("reason", "chat-request-conflict")
	case errors.Is(err, session.ErrQueueFull):
		return protocol.Unavailable(0, "%v", err).With("code", "QUEUE_FULL")
	case errors.Is(err, session.ErrClosed), errors.Is(err, store.ErrClosed):
		return protocol.Unavailable(1000, "Hearth is stopping and takes no more messages. Send it again after the restart.")
	case errors.Is(err, secret.ErrNotFound):
		return protocol.Invalid("%v", err).With("code", "NOT_FOUND")
	case errors.Is(err, secret.ErrLocked):
		return protocol.Invalid("%v", err).With("code", "SECRETS_LOCKED")
	case errors.Is(err, secret.ErrUnavailable):
		return protocol.Invalid("%v", err).With("code", "SECRETS_UNAVAILABLE")
	case isSecretInput(err):
		return protocol.Invalid("%v", err)
	case errors.Is(err, store.ErrFull):
		return protocol.Unavailable(5000, "The disk is full, so nothing was changed or accepted. Make some room and try again; reading and stopping still work.").With("code", "DISK_FULL")
	case errors.Is(err, store.ErrFailed):
		return protocol.Unavailable(5000, "Hearth's store could not be written, so nothing was accepted. Restart Hearth and try again.").With("code", "STORE_FAILED")
	}
	return configError(err)
}

// configError gives the settings' errors their form on the wire.
func configError(err error) error {
	var broken *config.BrokenError
	var invalid *config.InvalidError
	var path *config.PathError
	switch {
	case errors.Is(err, config.ErrStale):
		return protocol.Invalid("%v", err).With("code", "CONFIG_STALE")
	case errors.Is(err, config.ErrRedacted), errors.Is(err, config.ErrBusy),
		errors.As(err, &broken), errors.As(err, &invalid), errors.As(err, &path):
		return protocol.Invalid("%v", err)
	}
	return err
}
