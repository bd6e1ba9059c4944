package gateway

import (
	"maps"

	"github.com/hearth-assistant/hearth/gateway/protocol"
	"github.com/hearth-assistant/hearth/gateway/server"
)

// handlers is the whole surface; protocol.Methods has the scope of each.
func (g *Gateway) handlers() map[string]server.Handler {
	all := map[string]server.Handler{}
	for _, room := range []map[string]server.Handler{
		g.coreHandlers(), g.chatHandlers(), g.guardHandlers(), g.secretHandlers(), g.edgeHandlers(), g.accountHandlers(), g.memoryHandlers(), g.skillHandlers(),
		g.agentHandlers(), g.tokenHandlers(), g.mcpHandlers(), g.networkHandlers(), g.setupHandlers(), g.nodeHandlers(),
	} {
		maps.Copy(all, room)
	}
	return all
}

// coreHandlers look after the gateway, its settings and what it has.
func (g *Gateway) coreHandlers() map[string]server.Handler {
	return map[string]server.Handler{
		protocol.MethodHealth:         plain(protocol.MethodHealth, g.health),
		protocol.MethodStatus:         plain(protocol.MethodStatus, g.status),
		protocol.MethodSystemPresence: plain(protocol.MethodSystemPresence, g.systemPresence),
		protocol.MethodLogsTail:       plain(protocol.MethodLogsTail, g.logsTail),
		protocol.MethodLaunchLink:     plain(protocol.MethodLaunchLink, g.launchLink),
		protocol.MethodConfigGet:      plain(protocol.MethodConfigGet, g.configGet),
		protocol.MethodConfigSet:      plain(protocol.MethodConfigSet, g.configSet),
		protocol.MethodConfigPatch:    plain(protocol.MethodConfigPatch, g.configPatch),
		protocol.MethodModelsList:     plain(protocol.MethodModelsList, g.modelsList),
	}
}

// chatHandlers are about messages and their conversations.
func (g *Gateway) chatHandlers() map[string]server.Handler {
	return map[string]server.Handler{
		protocol.MethodChatSend:                    deciding(protocol.MethodChatSend, g.chatSend),
		protocol.MethodChatHistory:                 plain(protocol.MethodChatHistory, g.chatHistory),
		protocol.MethodChatStartup:                 plain(protocol.MethodChatStartup, g.chatHistory),
		protocol.MethodChatMetadata:                plain(protocol.MethodChatMetadata, g.chatMetadata),
		protocol.MethodChatAbort:                   plain(protocol.MethodChatAbort, g.chatAbort),
		protocol.MethodChatInject:                  plain(protocol.MethodChatInject, g.chatInject),
		protocol.MethodAgent:                       deciding(protocol.MethodAgent, g.agent),
		protocol.MethodAgentWait:                   plain(protocol.MethodAgentWait, g.agentWait),
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
		protocol.MethodWhy:                         plain(protocol.MethodWhy, g.why),
		protocol.MethodQueueEdit:                   plain(protocol.MethodQueueEdit, g.queueEdit),
		protocol.MethodMediaGet:                    plain(protocol.MethodMediaGet, g.mediaGet),
		protocol.MethodTranscriptExport:            plain(protocol.MethodTranscriptExport, g.transcriptExport),
		protocol.MethodView:                        called(protocol.MethodView, g.view),
		protocol.MethodSessionsSubscribe:           watchSessions(true),
		protocol.MethodSessionsUnsubscribe:         watchSessions(false),
		protocol.MethodSessionsMessagesSubscribe:   g.watchMessages(protocol.MethodSessionsMessagesSubscribe, true),
		protocol.MethodSessionsMessagesUnsubscribe: g.watchMessages(protocol.MethodSessionsMessagesUnsubscribe, false),
	}
}

// guardHandlers are about what Hearth may do, and what it did.
func (g *Gateway) guardHandlers() map[string]server.Handler {
	return map[string]server.Handler{
		protocol.MethodToolsCatalog:        plain(protocol.MethodToolsCatalog, g.toolsCatalog),
		protocol.MethodToolsEffective:      plain(protocol.MethodToolsEffective, g.toolsEffective),
		protocol.MethodCodeRun:             called(protocol.MethodCodeRun, g.codeRun),
		protocol.MethodToolsInvoke:         called(protocol.MethodToolsInvoke, g.toolsInvoke),
		protocol.MethodExecApprovalRequest: called(protocol.MethodExecApprovalRequest, g.approvalRequest),
		protocol.MethodExecApprovalWait:    plain(protocol.MethodExecApprovalWait, g.approvalWait),
		protocol.MethodExecApprovalResolve: called(protocol.MethodExecApprovalResolve, g.approvalResolve),
		protocol.MethodExecApprovalList:    plain(protocol.MethodExecApprovalList, g.approvalList),
		protocol.MethodExecApprovalGet:     plain(protocol.MethodExecApprovalGet, g.approvalGet),
		protocol.MethodExecApprovalsGet:    plain(protocol.MethodExecApprovalsGet, g.execApprovalsGet),
		protocol.MethodExecApprovalsSet:    called(protocol.MethodExecApprovalsSet, g.execApprovalsSet),
		protocol.MethodApprovalsRules:      plain(protocol.MethodApprovalsRules, g.approvalRules),
		protocol.MethodApprovalsRemoveRule: called(protocol.MethodApprovalsRemoveRule, g.approvalRemoveRule),
		protocol.MethodPauseGet:            plain(protocol.MethodPauseGet, g.pauseGet),
		protocol.MethodPauseSet:            called(protocol.MethodPauseSet, g.pauseSet),
		protocol.MethodAuditList:           plain(protocol.MethodAuditList, g.auditList),
		protocol.MethodAuditVerify:         plain(protocol.MethodAuditVerify, g.auditVerify),
		protocol.MethodUndoList:            plain(protocol.MethodUndoList, g.undoList),
		protocol.MethodUndoPreview:         plain(protocol.MethodUndoPreview, g.undoPreview),
		protocol.MethodUndoApply:           plain(protocol.MethodUndoApply, g.undoApply),
	}
}

// secretHandlers keep keys.
func (g *Gateway) secretHandlers() map[string]server.Handler {
	return map[string]server.Handler{
		protocol.MethodSecretsList:    plain(protocol.MethodSecretsList, g.secretsList),
		protocol.MethodSecretsSet:     plain(protocol.MethodSecretsSet, g.secretsSet),
		protocol.MethodSecretsRemove:  plain(protocol.MethodSecretsRemove, g.secretsRemove),
		protocol.MethodSecretsStatus:  plain(protocol.MethodSecretsStatus, g.secretsStatus),
		protocol.MethodSecretsUnlock:  plain(protocol.MethodSecretsUnlock, g.secretsUnlock),
		protocol.MethodSecretsMigrate: plain(protocol.MethodSecretsMigrate, g.secretsMigrate),
		protocol.MethodSecretsReload:  plain(protocol.MethodSecretsReload, g.secretsReload),
	}
}

// edgeHandlers are about people and deliveries on messaging networks.
func (g *Gateway) edgeHandlers() map[string]server.Handler {
	return map[string]server.Handler{
		protocol.MethodChannelsStatus:    plain(protocol.MethodChannelsStatus, g.channelsStatus),
		protocol.MethodContactsList:      plain(protocol.MethodContactsList, g.contactsList),
		protocol.MethodContactsResolve:   plain(protocol.MethodContactsResolve, g.contactsResolve),
		protocol.MethodContactsRemove:    plain(protocol.MethodContactsRemove, g.contactsRemove),
		protocol.MethodDeliveriesList:    plain(protocol.MethodDeliveriesList, g.deliveriesList),
		protocol.MethodDeliveriesResolve: plain(protocol.MethodDeliveriesResolve, g.deliveriesResolve),
	}
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
