// The wire types under names that do not hide the browser's own Error, Event,
// Request and Response.
export type {
  AgentEvent, AgentInfo, Approval, ApprovalResolved, ApprovalRule, ApprovalScript, AsideMessage, AuditEntry,
  Auth, Block as WireBlock, Challenge, ChatEvent, ChatHistory, CommandInfo, ConnectParams,
  ContactRequest, CronActed, CronEvent, CronJob, CronMissed, CronPreview, CronProposal, CronProposals, CronRun, CronSchedule,
  CronSlot, CronWatched,
  DeliveryContext, DeliveryInfo, DeviceAuth, Earlier, Error as ErrorShape, Event as EventFrame,
  Events, Health, HelloOK, InFlightRun, Message, MessageOrigin, MessageVersions, Methods, ModelInfo, Pause, Problem, ReceiptState,
  Response as ResponseFrame, Scope, SessionMessage, SessionRow, SearchHit, SessionsChanged,
  SessionsList, SessionsSearch, Setup, TaskView, TaskViewEvent, ToolInfo, ToolsGroup, Why, WhyRule,
} from "../protocol";
