package gateway

import (
	"slices"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// methods is the whole surface; protocol.Methods has the scope of each.
func (g *Gateway) methods() []method {
	return slices.Concat(
		g.coreMethods(), g.chatMethods(), g.guardMethods(), g.secretMethods(), g.edgeMethods(), g.accountMethods(), g.memoryMethods(), g.skillMethods(),
		g.agentMethods(), g.tokenMethods(), g.mcpMethods(), g.networkMethods(), g.setupMethods(), g.nodeMethods(),
	)
}

// coreMethods look after the gateway, its settings and what it has.
func (g *Gateway) coreMethods() []method {
	return []method{
		plain(protocol.MethodHealth, g.health),
		plain(protocol.MethodStatus, g.status),
		plain(protocol.MethodSystemPresence, g.systemPresence),
		plain(protocol.MethodLogsTail, g.logsTail),
		plain(protocol.MethodLaunchLink, g.launchLink),
		plain(protocol.MethodConfigGet, g.configGet),
		plain(protocol.MethodConfigSet, g.configSet),
		plain(protocol.MethodConfigPatch, g.configPatch),
		plain(protocol.MethodModelsList, g.modelsList),
	}
}

// chatMethods are about messages and their conversations.
func (g *Gateway) chatMethods() []method {
	return []method{
		deciding(protocol.MethodChatSend, g.chatSend),
		plain(protocol.MethodChatHistory, g.chatHistory),
		plain(protocol.MethodChatStartup, g.chatHistory),
		plain(protocol.MethodChatMetadata, g.chatMetadata),
		plain(protocol.MethodChatAbort, g.chatAbort),
		plain(protocol.MethodChatInject, g.chatInject),
		deciding(protocol.MethodAgent, g.agent),
		plain(protocol.MethodAgentWait, g.agentWait),
		plain(protocol.MethodSessionsList, g.sessionsList),
		plain(protocol.MethodSessionsGet, g.sessionsGet),
		plain(protocol.MethodSessionsCreate, g.sessionsCreate),
		plain(protocol.MethodSessionsPatch, g.sessionsPatch),
		plain(protocol.MethodSessionsReset, g.sessionsReset),
		called(protocol.MethodSessionsDelete, g.sessionsDelete),
		plain(protocol.MethodSessionsDescribe, g.sessionsDescribe),
		plain(protocol.MethodSessionsResolve, g.sessionsResolve),
		plain(protocol.MethodSessionsPreview, g.sessionsPreview),
		plain(protocol.MethodSessionsCompact, g.sessionsCompact),
		plain(protocol.MethodSessionsSearch, g.sessionsSearch),
		plain(protocol.MethodSessionsAbort, g.sessionsAbort),
		plain(protocol.MethodSessionsUsage, g.sessionsUsage),
		plain(protocol.MethodCommandsList, g.commandsList),
		plain(protocol.MethodWhy, g.why),
		plain(protocol.MethodQueueEdit, g.queueEdit),
		plain(protocol.MethodEarlier, g.sessionsEarlier),
		plain(protocol.MethodContinue, g.sessionsContinue),
		plain(protocol.MethodMediaGet, g.mediaGet),
		plain(protocol.MethodTranscriptExport, g.transcriptExport),
		called(protocol.MethodView, g.view),
		watchSessions(protocol.MethodSessionsSubscribe, true),
		watchSessions(protocol.MethodSessionsUnsubscribe, false),
		g.watchMessages(protocol.MethodSessionsMessagesSubscribe, true),
		g.watchMessages(protocol.MethodSessionsMessagesUnsubscribe, false),
	}
}

// guardMethods are about what Hearth may do, and what it did.
func (g *Gateway) guardMethods() []method {
	return []method{
		plain(protocol.MethodToolsCatalog, g.toolsCatalog),
		plain(protocol.MethodToolsEffective, g.toolsEffective),
		called(protocol.MethodCodeRun, g.codeRun),
		called(protocol.MethodToolsInvoke, g.toolsInvoke),
		called(protocol.MethodExecApprovalRequest, g.approvalRequest),
		plain(protocol.MethodExecApprovalWait, g.approvalWait),
		called(protocol.MethodExecApprovalResolve, g.approvalResolve),
		plain(protocol.MethodExecApprovalList, g.approvalList),
		plain(protocol.MethodExecApprovalGet, g.approvalGet),
		plain(protocol.MethodApprovalGet, g.anyApprovalGet),
		called(protocol.MethodApprovalResolve, g.anyApprovalResolve),
		plain(protocol.MethodApprovalHistory, g.anyApprovalHistory),
		plain(protocol.MethodPluginApprovalList, g.noApprovals),
		plain(protocol.MethodOpenClawApprovalList, g.noApprovals),
		plain(protocol.MethodExecApprovalsGet, g.execApprovalsGet),
		called(protocol.MethodExecApprovalsSet, g.execApprovalsSet),
		plain(protocol.MethodApprovalsRules, g.approvalRules),
		called(protocol.MethodApprovalsRemoveRule, g.approvalRemoveRule),
		plain(protocol.MethodPauseGet, g.pauseGet),
		called(protocol.MethodPauseSet, g.pauseSet),
		plain(protocol.MethodAuditList, g.auditList),
		plain(protocol.MethodAuditVerify, g.auditVerify),
		plain(protocol.MethodUndoList, g.undoList),
		plain(protocol.MethodUndoPreview, g.undoPreview),
		plain(protocol.MethodUndoApply, g.undoApply),
	}
}

// secretMethods keep keys.
func (g *Gateway) secretMethods() []method {
	return []method{
		plain(protocol.MethodSecretsList, g.secretsList),
		plain(protocol.MethodSecretsSet, g.secretsSet),
		plain(protocol.MethodSecretsRemove, g.secretsRemove),
		plain(protocol.MethodSecretsStatus, g.secretsStatus),
		plain(protocol.MethodSecretsUnlock, g.secretsUnlock),
		plain(protocol.MethodSecretsMigrate, g.secretsMigrate),
		plain(protocol.MethodSecretsReload, g.secretsReload),
	}
}

// edgeMethods are about people and deliveries on messaging networks.
func (g *Gateway) edgeMethods() []method {
	return []method{
		plain(protocol.MethodChannelsStatus, g.channelsStatus),
		plain(protocol.MethodContactsList, g.contactsList),
		plain(protocol.MethodContactsResolve, g.contactsResolve),
		plain(protocol.MethodContactsRemove, g.contactsRemove),
		plain(protocol.MethodContactsSet, g.contactsSet),
		plain(protocol.MethodDeliveriesList, g.deliveriesList),
		plain(protocol.MethodDeliveriesResolve, g.deliveriesResolve),
	}
}

// accountMethods are about accounts at model services and what they cost.
func (g *Gateway) accountMethods() []method {
	return []method{
		plain(protocol.MethodModelsAuthStatus, g.modelsAuthStatus),
		plain(protocol.MethodModelsAuthLogout, g.modelsAuthLogout),
		plain(protocol.MethodModelsAuthOrderSet, g.modelsAuthOrder),
		plain(protocol.MethodModelsAuthSetAPIKey, g.modelsAuthSetKey),
		plain(protocol.MethodModelsAuthLogin, g.modelsAuthLogin),
		plain(protocol.MethodModelsAuthWait, g.modelsAuthWait),
		plain(protocol.MethodModelsAuthCancel, g.modelsAuthCancel),
		plain(protocol.MethodModelsAuthForeign, g.modelsAuthForeign),
		plain(protocol.MethodModelsAuthImport, g.modelsAuthImport),
		plain(protocol.MethodModelsAuthAllow, g.modelsAuthAllow),

		plain(protocol.MethodModelsTest, g.modelsTest),
		plain(protocol.MethodModelsPull, g.modelsPull),
		plain(protocol.MethodDoctor, g.doctor),

		plain(protocol.MethodUsageCost, g.usageCost),
		plain(protocol.MethodUsageStatus, g.usageStatus),
		plain(protocol.MethodUsageAllow, g.usageAllow),
	}
}
