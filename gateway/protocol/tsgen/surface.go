package main

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/hearth-assistant/hearth/gateway/protocol"
)

// shape says what a method takes and gives, in TypeScript.
type shape struct{ method, params, result string }

const noParams = "Record<string, never>"

// methodShapes has one row for each method of the table in gateway/protocol;
// emitSurface fails when one is missing.
func methodShapes() []shape {
	groups := slices.Concat(secretShapes(), guardShapes(), pastShapes(), skillShapes(), mcpShapes(), networkShapes(), nodeShapes(),
		cronShapes(), taskShapes(), agentShapes(), pushShapes())
	return append(groups, []shape{
		{protocol.MethodConnect, "ConnectParams", "HelloOK"},
		{protocol.MethodHealth, noParams, "Health"},
		{protocol.MethodStatus, noParams, "Status"},
		{protocol.MethodSystemPresence, noParams, "PresenceEntry[]"},
		{protocol.MethodLogsTail, "LogsTailParams", "LogsTail"},
		{protocol.MethodConfigGet, noParams, "ConfigSnapshot"},
		{protocol.MethodConfigSet, "ConfigSetParams", "ConfigSetResult"},
		{protocol.MethodConfigPatch, "ConfigSetParams", "ConfigSetResult"},
		{protocol.MethodConfigSchema, noParams, "ConfigSchema"},
		{protocol.MethodConfigSchemaLookup, "ConfigLookupParams", "ConfigLookup"},
		{protocol.MethodDoctor, "DoctorParams", "Doctor"},
		{protocol.MethodDoctorRepair, "DoctorRepairParams", "DoctorRepaired"},
		{protocol.MethodStoreStatus, noParams, "StoreStatus"},
		{protocol.MethodStoreCheck, noParams, "StoreStatus"},
		{protocol.MethodStoreCompact, noParams, "StoreStatus"},
		{protocol.MethodSetupGet, "SetupGetParams", "Setup"},
		{protocol.MethodSetupAnswer, "SetupAnswerParams", "Setup"},
		{protocol.MethodUsageCost, "UsageCostParams", "UsageCost"},
		{protocol.MethodUsageStatus, noParams, "UsageStatus"},
		{protocol.MethodUsageAllow, "UsageAllowParams", "UsageStatus"},
		{protocol.MethodChatSend, "ChatSendParams", "ChatSendResult"},
		{protocol.MethodChatHistory, "ChatHistoryParams", "ChatHistory"},
		{protocol.MethodChatStartup, "ChatHistoryParams", "ChatHistory"},
		{protocol.MethodChatMetadata, "ChatMetadataParams", "ChatMetadata"},
		{protocol.MethodChatAbort, "ChatAbortParams", "ChatAbortResult"},
		{protocol.MethodChatInject, "ChatInjectParams", "ChatInjectResult"},
		{protocol.MethodAgent, "AgentParams", "AgentAccepted | AgentResult"},
		{protocol.MethodAgentWait, "AgentWaitParams", "AgentWaitResult"},
		{protocol.MethodSessionsList, "SessionsListParams", "SessionsList"},
		{protocol.MethodSessionsGet, "SessionKeyParams", "SessionsGetResult"},
		{protocol.MethodSessionsCreate, "SessionsCreateParams", "SessionsCreateResult"},
		{protocol.MethodSessionsPatch, "SessionsPatchParams", "SessionsPatchResult"},
		{protocol.MethodSessionsReset, "SessionsResetParams", "SessionsResetResult"},
		{protocol.MethodSessionsDelete, "SessionsDeleteParams", "SessionsDeleteResult"},
		{protocol.MethodSessionsSubscribe, noParams, "SubscribeResult"},
		{protocol.MethodSessionsUnsubscribe, noParams, "SubscribeResult"},
		{protocol.MethodSessionsMessagesSubscribe, "SessionKeyParams", "SubscribeResult"},
		{protocol.MethodSessionsMessagesUnsubscribe, "SessionKeyParams", "SubscribeResult"},
		{protocol.MethodSessionsDescribe, "SessionKeyParams", "SessionsDescribeResult"},
		{protocol.MethodSessionsResolve, "SessionsResolveParams", "SessionsResolveResult"},
		{protocol.MethodSessionsPreview, "SessionsPreviewParams", "SessionsPreview"},
		{protocol.MethodSessionsCompact, "SessionsCompactParams", "SessionsCompactResult"},
		{protocol.MethodSessionsSearch, "SessionsSearchParams", "SessionsSearch"},
		{protocol.MethodSessionsAbort, "SessionsAbortParams", "SessionsAbortResult"},
		{protocol.MethodSessionsUsage, "SessionsUsageParams", "SessionsUsage"},
		{protocol.MethodCommandsList, noParams, "CommandsList"},
		{protocol.MethodChannelsStatus, noParams, "ChannelsStatus"},
		{protocol.MethodWebLoginStart, "WebLoginStartParams", "WebLogin"},
		{protocol.MethodWebLoginWait, "WebLoginWaitParams", "WebLogin"},
		{protocol.MethodChannelsStart, "ChannelAccountParams", "ChannelStarted"},
		{protocol.MethodChannelsStop, "ChannelAccountParams", "ChannelStopped"},
		{protocol.MethodSend, "MessageSendParams", "MessageDone"},
		{protocol.MethodPoll, "MessagePollParams", "MessageDone"},
		{protocol.MethodMessageAction, "MessageActionParams", "MessageDone"},
		{protocol.MethodChannelsLogout, "ChannelAccountParams", "ChannelLoggedOut"},
		{protocol.MethodChannelsPairingList, "ChannelPairingListParams", "ChannelPairingList"},
		{protocol.MethodChannelsPairingApprove, "ChannelPairingApproveParams", "ChannelPairingApproved"},
		{protocol.MethodChannelsPairingDismiss, "ChannelPairingDismissParams", "ChannelPairingDismissed"},
		{protocol.MethodChannelsKinds, noParams, "ChannelKinds"},
		{protocol.MethodChannelsAdd, "ChannelAddParams", "ChannelAdded"},
		{protocol.MethodChannelsRemove, "ChannelRemoveParams", "OKResult"},
		{protocol.MethodContactsList, noParams, "ContactsList"},
		{protocol.MethodContactsResolve, "ContactResolveParams", "OKResult"},
		{protocol.MethodContactsRemove, "ContactRemoveParams", "OKResult"},
		{protocol.MethodContactsSet, "ContactSetParams", "ContactsList"},
		{protocol.MethodDeliveriesList, noParams, "DeliveriesList"},
		{protocol.MethodDeliveriesResolve, "DeliveryResolveParams", "OKResult"},
		{protocol.MethodWhy, "WhyParams", "Why"},
		{protocol.MethodTokensList, noParams, "Tokens"},
		{protocol.MethodTokensCreate, "TokenCreateParams", "TokenCreated"},
		{protocol.MethodTokensRevoke, "TokenRevokeParams", "TokenRevoked"},
		{protocol.MethodQueueEdit, "QueueEditParams", "OKResult"},
		{protocol.MethodView, "ViewParams", "OKResult"},
		{protocol.MethodLaunchLink, "LaunchLinkParams", "LaunchLink"},
	}...)
}

// pushShapes are those of notifications by push services.
func pushShapes() []shape {
	return []shape{
		{protocol.MethodPushKey, noParams, "PushKey"},
		{protocol.MethodPushSubscribe, "PushSubscribeParams", "PushSubscribed"},
		{protocol.MethodPushUnsubscribe, "PushEndpointParams", "PushUnsubscribed"},
		{protocol.MethodPushTest, "PushTestParams", "PushTested"},
		{protocol.MethodPushPreferencesGet, "PushEndpointParams", "PushPreferencesResult"},
		{protocol.MethodPushPreferencesSet, "PushPreferencesSetParams", "PushPreferencesResult"},
		{protocol.MethodPushOpen, "PushOpenParams", "PushPlace"},
	}
}

// agentShapes are those of who answers, and of the models that do.
func agentShapes() []shape {
	return []shape{
		{protocol.MethodAgentsList, noParams, "AgentsList"},
		{protocol.MethodAgentIdentityGet, "AgentIdentityParams", "AgentIdentity"},
		{protocol.MethodAgentsCreate, "AgentsCreateParams", "AgentsCreateResult"},
		{protocol.MethodAgentsUpdate, "AgentsUpdateParams", "AgentsUpdateResult"},
		{protocol.MethodAgentsDelete, "AgentsDeleteParams", "AgentsDeleteResult"},
		{protocol.MethodAgentsFilesList, "AgentFilesParams", "AgentFiles"},
		{protocol.MethodAgentsFilesGet, "AgentFileParams", "AgentFileResult"},
		{protocol.MethodAgentsFilesSet, "AgentFileSetParams", "AgentFileResult"},
		{protocol.MethodModelsList, "ModelsListParams", "ModelsList"},
		{protocol.MethodModelsAuthStatus, noParams, "ModelsAuthStatus"},
		{protocol.MethodModelsAuthLogout, "ModelsAuthLogoutParams", "ModelsAuthLogoutResult"},
		{protocol.MethodModelsAuthOrderSet, "ModelsAuthOrderParams", "OKResult"},
		{protocol.MethodModelsAuthSetAPIKey, "ModelsAuthSetKeyParams", "ModelsAuthSetKeyResult"},
		{protocol.MethodModelsAuthLogin, "ModelsAuthLoginParams", "ModelsAuthLogin"},
		{protocol.MethodModelsAuthWait, "ModelsAuthWaitParams", "ModelsAuthWait"},
		{protocol.MethodModelsAuthCancel, "ModelsAuthWaitParams", "OKResult"},
		{protocol.MethodModelsAuthForeign, noParams, "ForeignLogins"},
		{protocol.MethodModelsAuthImport, "ModelsAuthImportParams", "ModelsAuthSetKeyResult"},
		{protocol.MethodModelsAuthAllow, "ModelsAuthAllowParams", "OKResult"},
		{protocol.MethodModelsTest, "ModelsTestParams", "ModelsTestResult"},
		{protocol.MethodModelsPull, "ModelsPullParams", "ModelsPullProgress"},
		{protocol.MethodModelsLook, "ModelsLookParams", "ModelsLook"},
		{protocol.MethodModelsServices, noParams, "ModelServices"},
	}
}

// pastShapes are those of conversations as they stand in the store.
func pastShapes() []shape {
	return []shape{
		{protocol.MethodMediaGet, "MediaGetParams", "Media"},
		{protocol.MethodUploadPut, "UploadPutParams", "UploadPutResult"},
		{protocol.MethodUploadDrop, "UploadDropParams", "OKResult"},
		{protocol.MethodPromptsList, noParams, "PromptsList"},
		{protocol.MethodArtifactSave, "ArtifactSaveParams", "ArtifactSaved"},
		{protocol.MethodTranscriptExport, "TranscriptExportParams", "TranscriptExport"},
		{protocol.MethodEarlier, "EarlierParams", "EarlierList"},
		{protocol.MethodContinue, "ContinueParams", "Continued"},
		{protocol.MethodBranchesList, "BranchesParams", "BranchesList"},
		{protocol.MethodBranchesSwitch, "BranchSwitchParams", "OKResult"},
		{protocol.MethodSessionsRewind, "EntryParams", "RewindResult"},
		{protocol.MethodSessionsFork, "EntryParams", "ForkResult"},
		{protocol.MethodChatAgain, "ChatAgainParams", "ChatSendResult"},
	}
}

// guardShapes are those of tools, approvals, pause, audit and undo.
func guardShapes() []shape {
	return []shape{
		{protocol.MethodToolsCatalog, "ToolsCatalogParams", "ToolsCatalog"},
		{protocol.MethodToolsEffective, "ToolsEffectiveParams", "ToolsEffective"},
		{protocol.MethodCodeRun, "CodeRunParams", "CodeRunResult"},
		{protocol.MethodToolsInvoke, "ToolsInvokeParams", "ToolsInvokeResult"},
		{protocol.MethodExecApprovalRequest, "ApprovalRequestParams", "ApprovalRequestResult"},
		{protocol.MethodExecApprovalWait, "ApprovalIDParams", "ApprovalRequestResult"},
		{protocol.MethodExecApprovalResolve, "ApprovalResolveParams", "OKResult"},
		{protocol.MethodExecApprovalList, noParams, "Approval[]"},
		{protocol.MethodExecApprovalGet, "ApprovalIDParams", "Approval"},
		{protocol.MethodApprovalGet, "ApprovalIDParams", "AnyApprovalResult"},
		{protocol.MethodApprovalResolve, "AnyApprovalResolveParams", "AnyApprovalResolved"},
		{protocol.MethodApprovalHistory, "AnyApprovalHistoryParams", "AnyApprovalHistory"},
		{protocol.MethodPluginApprovalList, noParams, "Approval[]"},
		{protocol.MethodOpenClawApprovalList, noParams, "Approval[]"},
		{protocol.MethodExecApprovalsGet, noParams, "ExecApprovals"},
		{protocol.MethodExecApprovalsSet, "ExecApprovalsSetParams", "ExecApprovals"},
		{protocol.MethodApprovalsRules, noParams, "ApprovalRules"},
		{protocol.MethodApprovalsRemoveRule, "ApprovalIDParams", "OKResult"},
		{protocol.MethodPauseGet, noParams, "Pause"},
		{protocol.MethodPauseSet, "PauseSetParams", "Pause"},
		{protocol.MethodAuditList, "AuditListParams", "AuditList"},
		{protocol.MethodAuditVerify, noParams, "AuditReport"},
		{protocol.MethodMemoryList, "MemoryListParams", "MemoryFiles"},
		{protocol.MethodMemorySearch, "MemorySearchParams", "MemoryFound"},
		{protocol.MethodMemoryGet, "MemoryGetParams", "MemoryContent"},
		{protocol.MethodMemorySet, "MemorySetParams", "MemoryChange"},
		{protocol.MethodMemoryForget, "MemoryForgetParams", "MemoryChange"},
		{protocol.MethodMemoryStatus, "MemoryStatusParams", "MemoryStatus"},
		{protocol.MethodMemoryIndex, "MemoryIndexParams", "MemoryStatus"},
		{protocol.MethodMemorySearchFlat, "MemorySearchParams", "MemoryFound"},
		{protocol.MethodBackupStatus, noParams, "BackupStatus"},
		{protocol.MethodBackupSetup, "BackupSetupParams", "BackupStatus"},
		{protocol.MethodBackupCreate, "BackupCreateParams", "BackupMade"},
		{protocol.MethodBackupList, noParams, "BackupList"},
		{protocol.MethodBackupPrune, noParams, "BackupPruned"},
		{protocol.MethodMoveStatus, noParams, "MoveStatus"},
		{protocol.MethodMoveOffer, "MoveOfferParams", "MoveStatus"},
		{protocol.MethodMoveBegin, noParams, "MoveBegun"},
		{protocol.MethodMovePiece, "MovePieceParams", "MovePiece"},
		{protocol.MethodMoveRelease, "MoveReleaseParams", "MoveReleased"},
		{protocol.MethodMoveArrived, "MoveArrivedParams", "MoveStatus"},
		{protocol.MethodMoveLeave, noParams, "MoveStatus"},
		{protocol.MethodMoveExport, "MoveExportParams", "MoveExported"},
		{protocol.MethodMoveWake, "MoveWakeParams", "MoveStatus"},
		{protocol.MethodUpdateStatus, noParams, "UpdateStatus"},
		{protocol.MethodUpdateRun, "UpdateRunParams", "UpdateRunResult"},
		{protocol.MethodUpdateCheck, "UpdateCheckParams", "UpdateStatus"},
		{protocol.MethodUpdateBack, noParams, "UpdateRunResult"},
		{protocol.MethodImportSources, noParams, "ImportSources"},
		{protocol.MethodImportPlan, "ImportParams", "ImportReport"},
		{protocol.MethodImportStart, "ImportParams", "ImportStarted"},
		{protocol.MethodImportReport, "ImportReportParams", "ImportReport"},
		{protocol.MethodUndoList, "UndoListParams", "UndoList"},
		{protocol.MethodUndoPreview, "UndoParams", "UndoPlan"},
		{protocol.MethodUndoApply, "UndoParams", "UndoPlan"},
	}
}

// skillShapes are those of skills.
func skillShapes() []shape {
	return []shape{
		{protocol.MethodSkillsStatus, "SkillsStatusParams", "SkillsStatus"},
		{protocol.MethodSkillsBins, noParams, "SkillsBins"},
		{protocol.MethodSkillsInstall, "SkillsInstallParams", "SkillsInstallResult"},
		{protocol.MethodSkillsUpdate, "SkillsUpdateParams", "SkillsUpdateResult"},
		{protocol.MethodSkillPlan, "SkillPlanParams", "SkillPlan"},
		{protocol.MethodSkillAccept, "SkillAcceptParams", "SkillPlan"},
		{protocol.MethodSkillRemove, "SkillNameParams", "OKResult"},
	}
}

// mcpShapes are about MCP servers.
func mcpShapes() []shape {
	return []shape{
		{protocol.MethodMCPList, noParams, "MCPServers"},
		{protocol.MethodMCPTest, "MCPServerParams", "MCPServer"},
		{protocol.MethodMCPLogin, "MCPServerParams", "MCPLogin"},
		{protocol.MethodMCPLoginWait, "MCPLoginWaitParams", "MCPLoginState"},
		{protocol.MethodMCPLogout, "MCPServerParams", "OKResult"},
		{protocol.MethodMCPResources, "MCPServerParams", "MCPResources"},
		{protocol.MethodMCPRead, "MCPReadParams", "MCPText"},
		{protocol.MethodMCPPrompts, "MCPServerParams", "MCPPrompts"},
		{protocol.MethodMCPPrompt, "MCPPromptParams", "MCPText"},
	}
}

// secretShapes has those of keys and tokens.
func secretShapes() []shape {
	return []shape{
		{protocol.MethodSecretsList, noParams, "SecretsList"},
		{protocol.MethodSecretsSet, "SecretSetParams", "OKResult"},
		{protocol.MethodSecretsRemove, "SecretNameParams", "OKResult"},
		{protocol.MethodSecretsStatus, noParams, "SecretsStatus"},
		{protocol.MethodSecretsUnlock, "SecretsUnlockParams", "SecretsStatus"},
		{protocol.MethodSecretsMigrate, noParams, "SecretsMigrated"},
		{protocol.MethodSecretsReload, noParams, "SecretsReload"},
	}
}

// eventShapes has one row for each event that hello-ok advertises.
func eventShapes() []shape {
	return []shape{
		{protocol.EventConnectChallenge, "Challenge", ""},
		{protocol.EventTick, "{ ts: number }", ""},
		{protocol.EventHealth, "Health", ""},
		{protocol.EventPresence, "{ presence: PresenceEntry[] }", ""},
		{protocol.EventShutdown, "{ reason?: string; restartExpectedMs?: number | null }", ""},
		{protocol.EventChat, "ChatEvent", ""},
		{protocol.EventAgent, "AgentEvent", ""},
		{protocol.EventSessionsChanged, "SessionsChanged", ""},
		{protocol.EventSessionMessage, "SessionMessage", ""},
		{protocol.EventSessionTool, "AgentEvent", ""},
		{protocol.EventConfigChanged, "unknown", ""},
		{protocol.EventSkillsChanged, noParams, noParams},
		{protocol.EventExecApprovalRequested, "Approval", ""},
		{protocol.EventExecApprovalResolved, "ApprovalResolved", ""},
		{protocol.EventPairRequested, "PairRequest", ""},
		{protocol.EventPairResolved, "PairResolved", ""},
		{protocol.EventPause, "Pause", ""},
		{protocol.EventModelsPull, "ModelsPullProgress", ""},
		{protocol.EventSetup, "Setup", ""},
		{protocol.EventCodeOutput, "CodeOutputEvent", ""},
		{protocol.EventNodePairRequested, "NodeRequest", ""},
		{protocol.EventNodePairResolved, "NodePairResolved", ""},
		{protocol.EventNodePresence, "NodePresence", ""},
		{protocol.EventNodeHostStats, "NodeHostStats", ""},
		{protocol.EventNodeInvokeRequest, "NodeInvokeRequest", ""},
		{protocol.EventNodeInvokeCancel, "NodeInvokeCancel", ""},
		{protocol.EventCron, "CronEvent", ""},
		{protocol.EventHeartbeat, "HeartbeatEvent", ""},
		{protocol.EventTask, "TaskEvent", ""},
		{protocol.EventTaskView, "TaskViewEvent", ""},
		{protocol.EventCronProposals, "CronProposals", ""},
	}
}

// emitSurface writes two interfaces that tie names to shapes, so that a call
// or a listener with the wrong one does not compile.
func (s *source) emitSurface(b *bytes.Buffer) error {
	methods, events := methodShapes(), eventShapes()
	if err := sameNames("method", methods, methodNames()); err != nil {
		return err
	}
	if err := sameNames("event", events, protocol.Events()); err != nil {
		return err
	}
	for _, r := range append(methods, events...) {
		if err := s.known(r.params + " " + r.result); err != nil {
			return fmt.Errorf("%s: %w", r.method, err)
		}
	}
	b.WriteString("\n/** What each method takes and gives. */\nexport interface Methods {\n")
	for _, r := range methods {
		fmt.Fprintf(b, "  %s: { params: %s; result: %s };\n", quote(r.method), r.params, r.result)
	}
	b.WriteString("}\n\n/** The payload of each event. */\nexport interface Events {\n")
	for _, r := range events {
		fmt.Fprintf(b, "  %s: %s;\n", quote(r.method), r.params)
	}
	b.WriteString("}\n")
	return nil
}

func methodNames() []string {
	names := []string{protocol.MethodConnect}
	for _, m := range protocol.Methods() {
		names = append(names, m.Name)
	}
	return names
}

func sameNames(what string, rows []shape, names []string) error {
	have := map[string]bool{}
	for _, r := range rows {
		have[r.method] = true
	}
	for _, n := range names {
		if !have[n] {
			return fmt.Errorf("%s %q of gateway/protocol has no row in tsgen/surface.go", what, n)
		}
		delete(have, n)
	}
	for n := range have {
		return fmt.Errorf("tsgen/surface.go has a row for %s %q, which gateway/protocol does not know", what, n)
	}
	return nil
}

// known checks that every capitalised word of a TypeScript type is emitted.
func (s *source) known(ts string) error {
	for _, w := range regexp.MustCompile(`\b[A-Z]\w*`).FindAllString(ts, -1) {
		if w == "Record" {
			continue
		}
		if _, err := s.identType(s.main, w); err != nil {
			return fmt.Errorf("%q is no type of gateway/protocol", strings.TrimSpace(w))
		}
	}
	return nil
}

func networkShapes() []shape {
	return []shape{
		{protocol.MethodReachStatus, noParams, "ReachStatus"},
		{protocol.MethodPairSetupCode, "PairSetupParams", "PairSetup"},
		{protocol.MethodPairList, noParams, "PairedDevices"},
		{protocol.MethodPairRemove, "PairRemoveParams", "PairRemoveResult"},
		{protocol.MethodPairApprove, "PairDecisionParams", "PairApproved"},
		{protocol.MethodPairReject, "PairDecisionParams", "PairRejected"},
		{protocol.MethodPairRename, "PairRenameParams", "PairRenamed"},
		{protocol.MethodTokenRotate, "DeviceTokenParams", "DeviceTokenRotated"},
		{protocol.MethodTokenRevoke, "DeviceTokenRevokeParams", "DeviceTokenRevoked"},
		{protocol.MethodReachRotate, noParams, "ReachRotation"},
	}
}

func nodeShapes() []shape {
	return []shape{
		{protocol.MethodNodeList, noParams, "NodeList"},
		{protocol.MethodNodeDescribe, "NodeIDParams", "NodeDescription"},
		{protocol.MethodNodeRename, "NodeRenameParams", "NodeRenamed"},
		{protocol.MethodNodeInvoke, "NodeInvokeParams", "NodeInvokeResult"},
		{protocol.MethodNodePairList, noParams, "NodePairs"},
		{protocol.MethodNodePairApprove, "NodeRequestParams", "NodeApproved"},
		{protocol.MethodNodePairReject, "NodeRequestParams", "NodeRejected"},
		{protocol.MethodNodePairRemove, "NodeIDParams", "NodeRemoved"},
		{protocol.MethodNodePendingEnqueue, "NodeEnqueueParams", "NodeEnqueued"},
		{protocol.MethodNodeInvokeResult, "NodeResultParams", "NodeAck"},
		{protocol.MethodNodeInvokeProgress, "NodeProgressParams", "NodeAck"},
		{protocol.MethodNodeEvent, "NodeEventParams", "NodeEventResult"},
		{protocol.MethodNodePendingPull, noParams, "NodePull"},
		{protocol.MethodNodePendingAck, "NodePullAckParams", "NodePullAck"},
		{protocol.MethodNodePendingDrain, "NodeDrainParams", "NodeDrained"},
		{protocol.MethodNodeSkillsUpdate, "NodeSkillsParams", "NodeSkills"},
		{protocol.MethodNodeToolsUpdate, "NodeToolsParams", "NodeTools"},
		{protocol.MethodNodeRunnersUpdate, "Record<string, unknown>", "NodeRunners"},
	}
}

// taskShapes are about background work.
func taskShapes() []shape {
	return []shape{
		{protocol.MethodTasksList, "TasksListParams", "TasksList"},
		{protocol.MethodTasksGet, "TaskIDParams", "TaskResult"},
		{protocol.MethodTasksCancel, "TaskCancelParams", "TaskCancelResult"},
		{protocol.MethodTasksRetry, "TaskIDsParams", "TasksDone"},
		{protocol.MethodTasksDismiss, "TaskIDsParams", "TasksDone"},
		{protocol.MethodTasksHistory, "TaskHistoryParams", "TaskHistory"},
		{protocol.MethodTaskViews, "TasksListParams", "TaskViews"},
	}
}

// cronShapes are about schedules.
func cronShapes() []shape {
	return []shape{
		{protocol.MethodCronList, "CronListParams", "CronList"},
		{protocol.MethodCronStatus, noParams, "CronStatus"},
		{protocol.MethodCronGet, "CronIDParams", "CronJob"},
		{protocol.MethodCronAdd, "CronAddParams", "CronAdded"},
		{protocol.MethodCronUpdate, "CronUpdateParams", "CronJob"},
		{protocol.MethodCronRemove, "CronIDParams", "CronRemoved"},
		{protocol.MethodCronRun, "CronRunParams", "CronRunStarted"},
		{protocol.MethodCronRuns, "CronRunsParams", "CronRuns"},
		{protocol.MethodCronScratchGet, "CronIDParams", "CronScratchState"},
		{protocol.MethodCronScratchSet, "CronScratchSetParams", "CronScratchState"},
		{protocol.MethodWake, "WakeParams", "OKResult"},
		{protocol.MethodSetHeartbeats, "SetHeartbeatsParams", "SetHeartbeatsResult"},
		{protocol.MethodLastHeartbeat, noParams, "HeartbeatEvent | null"},
		{protocol.MethodHooksStatus, "HooksStatusParams", "HooksStatus"},
		{protocol.MethodHookEnable, "HookEnableParams", "HookInfo"},
		{protocol.MethodCronPreview, "CronPreviewParams", "CronPreview"},
		{protocol.MethodCronCalendar, "CronCalendarParams", "CronCalendar"},
		{protocol.MethodCronMissed, noParams, "CronMissed"},
		{protocol.MethodCronMissedResolve, "CronMissedParams", "OKResult"},
		{protocol.MethodCronSnooze, "CronSnoozeParams", "CronJob"},
		{protocol.MethodCronSeen, "CronSeenParams", "OKResult"},
		{protocol.MethodCronAct, "CronActParams", "CronActed"},
		{protocol.MethodCronWatchTest, "CronWatchTestParams", "CronWatchTest"},
		{protocol.MethodCronProposals, noParams, "CronProposals"},
		{protocol.MethodCronProposalAnswer, "CronProposalParams", "CronProposalAnswered"},
	}
}
