// What the gateway tells of conversations, handed to the one that it is about.
import type { AgentEvent, ChatEvent, SessionMessage } from "../net/wire";
import type { Chat } from "./chat.svelte";

/** feed finds the conversation of an event with of; what is shown nowhere is left out. */
export function feed(of: (sessionKey: string | undefined) => Chat | null | undefined, name: string, payload: unknown): void {
  if (name === "chat") {
    const e = payload as ChatEvent;
    of(e.sessionKey)?.event(e);
  } else if (name === "agent" || name === "session.tool") {
    const e = payload as AgentEvent;
    of(e.sessionKey)?.run(e);
  } else if (name === "session.message") {
    const e = payload as SessionMessage;
    if (e.message) of(e.sessionKey)?.message(e.message);
  }
}
