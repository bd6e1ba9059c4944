package protocol

// Method names. A handler can only be registered for a name in Methods.
const (
	MethodConnect = "connect"

	MethodHealth             = "health"
	MethodStatus             = "status"
	MethodSystemPresence     = "system-presence"
	MethodLogsTail           = "logs.tail"
	MethodConfigGet          = "config.get"
	MethodConfigSet          = "config.set"
	MethodConfigPatch        = "config.patch"
	MethodConfigSchema       = "config.schema"
	MethodConfigSchemaLookup = "config.schema.lookup"

	MethodAgentsList       = "agents.list"
	MethodAgentIdentityGet = "agent.identity.get"
	MethodAgentsCreate     = "agents.create"
	MethodAgentsUpdate     = "agents.update"
	MethodAgentsDelete     = "agents.delete"
	MethodAgentsFilesList  = "agents.files.list"
	MethodAgentsFilesGet   = "agents.files.get"
	MethodAgentsFilesSet   = "agents.files.set"
	MethodModelsList       = "models.list"

	MethodModelsAuthStatus    = "models.authStatus"
	MethodModelsAuthLogout    = "models.authLogout"
	MethodModelsAuthOrderSet  = "models.authOrderSet"
	MethodModelsAuthSetAPIKey = "models.authSetApiKey"
	// These are ours: logins, those of other programs, and where a key may go.
	MethodModelsAuthLogin   = "hearth.models.auth.login"
	MethodModelsAuthWait    = "hearth.models.auth.wait"
	MethodModelsAuthCancel  = "hearth.models.auth.cancel"
	MethodModelsAuthForeign = "hearth.models.auth.foreign"
	MethodModelsAuthImport  = "hearth.models.auth.import"
	MethodModelsAuthAllow   = "hearth.models.auth.allow"
	// Ours as well: does a model answer, a download, and how Hearth is.
	MethodModelsTest = "hearth.models.test"
	MethodModelsPull = "hearth.models.pull"
	// MethodModelsLook asks a server that a person names which models it has.
	MethodModelsLook = "hearth.models.look"
	// MethodModelsServices names the known services and what each needs.
	MethodModelsServices = "hearth.models.services"
	MethodDoctor         = "hearth.doctor"
	MethodDoctorRepair   = "hearth.doctor.repair"
	MethodStoreStatus    = "hearth.store.status"
	MethodStoreCheck     = "hearth.store.check"
	MethodStoreCompact   = "hearth.store.compact"
	// The first steps.
	MethodSetupGet    = "hearth.setup.get"
	MethodSetupAnswer = "hearth.setup.answer"

	MethodUsageCost   = "usage.cost"
	MethodUsageStatus = "usage.status"
	// MethodUsageAllow is ours: other limits, or one answer beyond them.
	MethodUsageAllow = "hearth.usage.allow"

	MethodChatSend    = "chat.send"
	MethodChatHistory = "chat.history"
	// MethodChatStartup is chat.history under the name that OpenClaw's page of
	// 2026.9.6 opens a conversation with; without it that page sends nothing.
	MethodChatStartup  = "chat.startup"
	MethodChatMetadata = "chat.metadata"
	MethodChatAbort    = "chat.abort"
	MethodChatInject   = "chat.inject"
	MethodAgent        = "agent"
	MethodAgentWait    = "agent.wait"

	MethodSessionsList                = "sessions.list"
	MethodSessionsGet                 = "sessions.get"
	MethodSessionsCreate              = "sessions.create"
	MethodSessionsPatch               = "sessions.patch"
	MethodSessionsReset               = "sessions.reset"
	MethodSessionsDelete              = "sessions.delete"
	MethodSessionsSubscribe           = "sessions.subscribe"
	MethodSessionsUnsubscribe         = "sessions.unsubscribe"
	MethodSessionsMessagesSubscribe   = "sessions.messages.subscribe"
	MethodSessionsMessagesUnsubscribe = "sessions.messages.unsubscribe"

	MethodSessionsDescribe = "sessions.describe"
	MethodSessionsResolve  = "sessions.resolve"
	MethodSessionsPreview  = "sessions.preview"
	MethodSessionsCompact  = "sessions.compact"
	MethodSessionsUsage    = "sessions.usage"
	MethodSessionsAbort    = "sessions.abort"
	// Branches of a transcript.
	MethodBranchesList   = "sessions.branches.list"
	MethodBranchesSwitch = "sessions.branches.switch"
	MethodSessionsRewind = "sessions.rewind"
	MethodSessionsFork   = "sessions.fork"
	// MethodChatAgain is ours: answers a message again, with other words or another
	// model.
	MethodChatAgain    = "hearth.chat.again"
	MethodCommandsList = "commands.list"
	// MethodSessionsSearch is ours: words in all messages.
	MethodSessionsSearch = "sessions.search"

	MethodChannelsStatus = "channels.status"
	// A person logs an account in: what they scan, type or open there, and the end of it.
	MethodWebLoginStart          = "web.login.start"
	MethodWebLoginWait           = "web.login.wait"
	MethodChannelsStart          = "channels.start"
	MethodChannelsStop           = "channels.stop"
	MethodSend                   = "send"
	MethodPoll                   = "poll"
	MethodMessageAction          = "message.action"
	MethodChannelsLogout         = "channels.logout"
	MethodChannelsPairingList    = "channels.pairing.list"
	MethodChannelsPairingApprove = "channels.pairing.approve"
	MethodChannelsPairingDismiss = "channels.pairing.dismiss"
	// These are ours: setting an account up, and taking it out.
	MethodChannelsKinds  = "hearth.channels.kinds"
	MethodChannelsAdd    = "hearth.channels.add"
	MethodChannelsRemove = "hearth.channels.remove"

	// The methods of contacts and deliveries are ours: who may write from
	// messaging networks, and answers that have not arrived there.
	// The methods of secrets are ours, but for secrets.reload. There is none that
	// reads one.
	MethodSecretsList    = "hearth.secrets.list"
	MethodSecretsSet     = "hearth.secrets.set"
	MethodSecretsRemove  = "hearth.secrets.remove"
	MethodSecretsStatus  = "hearth.secrets.status"
	MethodSecretsUnlock  = "hearth.secrets.unlock"
	MethodSecretsMigrate = "hearth.secrets.migrate"
	MethodSecretsReload  = "secrets.reload"

	MethodContactsList      = "hearth.contacts.list"
	MethodContactsResolve   = "hearth.contacts.resolve"
	MethodContactsRemove    = "hearth.contacts.remove"
	MethodContactsSet       = "hearth.contacts.set"
	MethodDeliveriesList    = "hearth.deliveries.list"
	MethodDeliveriesResolve = "hearth.deliveries.resolve"

	MethodToolsCatalog   = "tools.catalog"
	MethodToolsEffective = "tools.effective"
	MethodToolsInvoke    = "tools.invoke"
	// MethodCodeRun is ours: run a program with the tools inside.
	MethodCodeRun = "hearth.code.run"

	MethodExecApprovalRequest = "exec.approval.request"
	MethodExecApprovalWait    = "exec.approval.waitDecision"
	MethodExecApprovalResolve = "exec.approval.resolve"
	MethodExecApprovalList    = "exec.approval.list"
	MethodExecApprovalGet     = "exec.approval.get"
	// These are for any kind of request. Ours all look like commands there.
	MethodApprovalGet          = "approval.get"
	MethodApprovalResolve      = "approval.resolve"
	MethodApprovalHistory      = "approval.history"
	MethodPluginApprovalList   = "plugin.approval.list"   // always empty
	MethodOpenClawApprovalList = "openclaw.approval.list" // always empty

	MethodExecApprovalsGet    = "exec.approvals.get"
	MethodExecApprovalsSet    = "exec.approvals.set"
	MethodApprovalsRules      = "hearth.approvals.rules"
	MethodApprovalsRemoveRule = "hearth.approvals.removeRule"
	MethodPauseGet            = "hearth.pause.get"
	MethodPauseSet            = "hearth.pause.set"
	MethodAuditList           = "hearth.audit.list"
	MethodAuditVerify         = "hearth.audit.verify"

	// The methods of undo are ours: turns that changed files, and taking them back.
	MethodMemoryList       = "hearth.memory.list"
	MethodMemorySearch     = "hearth.memory.search"
	MethodMemoryGet        = "hearth.memory.get"
	MethodMemorySet        = "hearth.memory.set"
	MethodMemoryForget     = "hearth.memory.forget"
	MethodMemoryStatus     = "hearth.memory.status"
	MethodMemoryIndex      = "hearth.memory.index"
	MethodMemorySearchFlat = "memory.search"
	MethodBackupStatus     = "hearth.backup.status"
	MethodBackupSetup      = "hearth.backup.setup"
	MethodBackupCreate     = "hearth.backup.create"
	MethodBackupList       = "hearth.backup.list"
	MethodBackupPrune      = "hearth.backup.prune"
	MethodMoveStatus       = "hearth.move.status"
	MethodMoveOffer        = "hearth.move.offer"
	MethodMoveBegin        = "hearth.move.begin"
	MethodMovePiece        = "hearth.move.piece"
	MethodMoveRelease      = "hearth.move.release"
	MethodMoveArrived      = "hearth.move.arrived"
	MethodMoveLeave        = "hearth.move.leave"
	MethodMoveExport       = "hearth.move.export"
	MethodMoveWake         = "hearth.move.wake"
	MethodUpdateStatus     = "update.status"
	MethodUpdateRun        = "update.run"
	MethodUpdateCheck      = "hearth.update.check"
	MethodUpdateBack       = "hearth.update.back"
	MethodImportSources    = "hearth.imports.sources"
	MethodImportPlan       = "hearth.imports.plan"
	MethodImportStart      = "hearth.imports.start"
	MethodImportReport     = "hearth.imports.report"
	MethodUndoList         = "hearth.undo.list"
	MethodUndoPreview      = "hearth.undo.preview"
	MethodUndoApply        = "hearth.undo.apply"

	MethodSkillsStatus  = "skills.status"
	MethodSkillsBins    = "skills.bins"
	MethodSkillsInstall = "skills.install"
	MethodSkillsUpdate  = "skills.update"
	// The methods of one skill are ours: what installing or confirming it would
	// mean, doing exactly that, and taking it away.
	MethodSkillPlan   = "hearth.skills.plan"
	MethodSkillAccept = "hearth.skills.accept"
	MethodSkillRemove = "hearth.skills.remove"

	// The methods of reach are ours: from where the gateway can be reached.
	MethodReachStatus = "hearth.reach.status"
	MethodReachRotate = "hearth.reach.rotate" // begins to change the gateway's key
	// Devices, and the code that pairs one.
	MethodPairSetupCode = "device.pair.setupCode"
	MethodPairList      = "device.pair.list"
	MethodPairRemove    = "device.pair.remove"
	MethodPairApprove   = "device.pair.approve"
	MethodPairReject    = "device.pair.reject"
	MethodPairRename    = "device.pair.rename"
	MethodTokenRotate   = "device.token.rotate"
	MethodTokenRevoke   = "device.token.revoke"

	// Devices that do things for the assistant: what people call, and what the
	// devices themselves call.
	MethodNodeList           = "node.list"
	MethodNodeDescribe       = "node.describe"
	MethodNodeRename         = "node.rename"
	MethodNodeInvoke         = "node.invoke"
	MethodNodePairList       = "node.pair.list"
	MethodNodePairApprove    = "node.pair.approve"
	MethodNodePairReject     = "node.pair.reject"
	MethodNodePairRemove     = "node.pair.remove"
	MethodNodePendingEnqueue = "node.pending.enqueue"
	MethodNodeInvokeResult   = "node.invoke.result"
	MethodNodeInvokeProgress = "node.invoke.progress"
	MethodNodeEvent          = "node.event"
	MethodNodePendingPull    = "node.pending.pull"
	MethodNodePendingAck     = "node.pending.ack"
	MethodNodePendingDrain   = "node.pending.drain"
	MethodNodeSkillsUpdate   = "node.skills.update"
	MethodNodeToolsUpdate    = "node.pluginTools.update"
	MethodNodeRunnersUpdate  = "node.runnerInventory.update"

	// MethodWhy is ours: how a message was dealt with.
	MethodWhy = "hearth.why"

	MethodMCPList = "hearth.mcp.list"
	MethodMCPTest = "hearth.mcp.test"

	MethodMCPLogin     = "hearth.mcp.login"
	MethodMCPLoginWait = "hearth.mcp.login.wait"
	MethodMCPLogout    = "hearth.mcp.logout"
	MethodMCPResources = "hearth.mcp.resources"
	MethodMCPRead      = "hearth.mcp.read"
	MethodMCPPrompts   = "hearth.mcp.prompts"
	MethodMCPPrompt    = "hearth.mcp.prompt"
	// The methods of tokens are ours: programs that come in over HTTP.
	MethodTokensList   = "hearth.tokens.list"
	MethodTokensCreate = "hearth.tokens.create"
	MethodTokensRevoke = "hearth.tokens.revoke"
	// MethodQueueEdit is ours: other words for a message that still waits.
	MethodQueueEdit = "hearth.queue.edit"
	// MethodEarlier and MethodContinue are ours: conversations that a reset put
	// aside, and making one a chat of its own again.
	MethodEarlier  = "hearth.sessions.earlier"
	MethodContinue = "hearth.sessions.continue"
	// MethodLaunchLink is ours: it mints a single-use link that lets a browser
	// on this machine pair itself.
	MethodLaunchLink = "hearth.launch"
	// MethodView says which chat somebody looks at.
	MethodView = "hearth.view"
	// MethodMediaGet is ours: a picture of a conversation.
	MethodMediaGet = "hearth.media.get"
	// MethodUploadPut and MethodUploadDrop are ours: files for a message that is not
	// sent yet, in parts.
	MethodUploadPut  = "hearth.upload.put"
	MethodUploadDrop = "hearth.upload.drop"
	// MethodPromptsList is ours: the prompts that a person keeps.
	MethodPromptsList = "hearth.prompts.list"
	// MethodArtifactSave is ours: keeps what a model made in the assistant's workspace.
	MethodArtifactSave = "hearth.artifact.save"
	// Schedules: what OpenClaw's programs call, and heartbeats.
	MethodCronList       = "cron.list"
	MethodCronStatus     = "cron.status"
	MethodCronGet        = "cron.get"
	MethodCronAdd        = "cron.add"
	MethodCronUpdate     = "cron.update"
	MethodCronRemove     = "cron.remove"
	MethodCronRun        = "cron.run"
	MethodCronRuns       = "cron.runs"
	MethodCronScratchGet = "cron.scratch.get"
	MethodCronScratchSet = "cron.scratch.set"
	MethodWake           = "wake"
	MethodSetHeartbeats  = "set-heartbeats"
	MethodLastHeartbeat  = "last-heartbeat"
	// Hooks that are told what happens inside; MethodHookEnable is ours and switches
	// one on with the files that somebody has looked at, or off.
	MethodHooksStatus = "hooks.status"
	MethodHookEnable  = "hearth.hooks.enable"
	// These are ours: what a schedule means, the coming slots, what was missed,
	// reminding again, and that a reminder was seen.
	MethodCronPreview       = "hearth.cron.preview"
	MethodCronCalendar      = "hearth.cron.calendar"
	MethodCronMissed        = "hearth.cron.missed"
	MethodCronMissedResolve = "hearth.cron.missed.resolve"
	MethodCronSnooze        = "hearth.cron.snooze"
	MethodCronSeen          = "hearth.cron.seen"
	// MethodCronAct is what a person may do with a job in a chat.
	MethodCronAct = "hearth.cron.act"
	// MethodCronWatchTest is ours: looking once at what a job watches or would.
	MethodCronWatchTest = "hearth.cron.watch.test"
	// What the assistant said it would do, and the person's yes or no to it.
	MethodCronProposals      = "hearth.cron.proposals"
	MethodCronProposalAnswer = "hearth.cron.proposals.answer"
	// Tasks: background work, as OpenClaw's programs ask for it.
	MethodTasksList    = "tasks.list"
	MethodTasksGet     = "tasks.get"
	MethodTasksCancel  = "tasks.cancel"
	MethodTasksRetry   = "tasks.retry"
	MethodTasksDismiss = "tasks.dismiss"
	MethodTasksHistory = "tasks.history"
	// MethodTaskViews is ours: tasks.list with how far each is and what can be done.
	MethodTaskViews = "hearth.tasks.list"
	// Web Push, as OpenClaw's page asks for it; MethodPushOpen is ours and says where
	// the news of a notification is.
	MethodPushKey            = "push.web.vapidPublicKey"
	MethodPushSubscribe      = "push.web.subscribe"
	MethodPushUnsubscribe    = "push.web.unsubscribe"
	MethodPushTest           = "push.web.test"
	MethodPushPreferencesGet = "push.web.preferences.get"
	MethodPushPreferencesSet = "push.web.preferences.set"
	MethodPushOpen           = "hearth.push.open"
	// MethodTranscriptExport is ours: one page of raw transcript entries.
	MethodTranscriptExport = "hearth.sessions.export"
)
