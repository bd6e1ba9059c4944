// The wire types under names that do not hide the browser's own Error, Event,
// Request and Response.
export type {
  AgentEvent, Auth, Block as WireBlock, Challenge, ChatEvent, ChatHistory, ConnectParams, DeviceAuth, Error as ErrorShape, Event as EventFrame, Events,
  Health, HelloOK, InFlightRun, Message, Methods, ModelInfo, Problem, ReceiptState, Response as ResponseFrame, Scope, SessionMessage, SessionRow,
  SessionsChanged, SessionsList,
} from "../protocol";
