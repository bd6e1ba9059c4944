// The wire types under names that do not hide the browser's own Error, Event,
// Request and Response.
export type {
  AgentEvent, Auth, Block as WireBlock, Challenge, ChatEvent, ChatHistory, CommandInfo, ConnectParams, ContactRequest, DeliveryInfo, DeviceAuth,
  Error as ErrorShape, Event as EventFrame, Events, Health, HelloOK, InFlightRun, Message, Methods, ModelInfo, Problem, ReceiptState, Response as ResponseFrame, Scope, SessionMessage, SessionRow,
  SearchHit, SessionsChanged, SessionsList, SessionsSearch, Why,
} from "../protocol";
