// Debian's Firefox, driven by WebDriver BiDi, for a part of the page's tests. Playwright
// and it do not agree in two things yet, which are put right here: it has no command to
// make a page believe in a dark or quiet system, and what it tells of a download has no
// number when the download is no navigation.
import { existsSync } from "node:fs";
import * as playwright from "playwright-core";

export const firefoxes = [process.env.FIREFOX, "/usr/bin/firefox-esr", "/usr/bin/firefox"];

// A screen that is drawn nowhere has no mouse, and the page then waits with the keyboard
// until its field is pressed, as on a phone. People at a desk have one (2: exact, 4: hovers),
// and all tests ask for a quiet system.
const firefoxUserPrefs = { "ui.primaryPointerCapabilities": 6, "ui.allPointerCapabilities": 6, "ui.prefersReducedMotion": 1 };

export async function launchFirefox() {
  const browser = await playwright.firefox.launch({ executablePath: firefoxes.find((p) => p && existsSync(p)), channel: "moz-firefox", timeout: 60_000, firefoxUserPrefs });
  const session = Object.getPrototypeOf(toImpl(browser)._browserSession);
  const { send, emit } = session;
  session.send = function (method, params) {
    return method === "emulation.setMediaFeaturesOverride" ? Promise.resolve({}) : send.call(this, method, params);
  };
  session.emit = function (event, params) {
    return emit.call(this, event, /^browsingContext\.download/.test(event) ? { ...params, download: params.download ?? params.navigation ?? params.url } : params);
  };
  return browser;
}

/** toImpl is what stands behind an object of Playwright in this process. */
function toImpl(o) {
  const impl = (o._toImpl ?? playwright.default?._toImpl ?? o._connection?.toImpl)?.call(o._connection ?? o, o);
  if (!impl) throw new Error("this version of Playwright has another inside: look at toImpl in firefox.mjs");
  return impl;
}

/** names are the cases that run in Firefox too: what another engine could do otherwise, and
 * of nearly every feature one. Not there: what counts on colours at one moment, on a
 * worker's pushes (the driver does not tell them) or on the computer's choice of colours. */
export const names = new Set([
  "a message is answered, word by word",
  "messages written during an answer wait and are answered in order",
  "the gateway is killed: what was written meanwhile is sent once, in order",
  "stop: by the button and by Escape, what came stays",
  "a message is edited in place, answered again, and both versions are reached",
  "formulas are drawn and nothing of them is damaged before",
  "a table is sorted by its heads and copied as CSV",
  "what stands in the conversation can be pressed while it scrolls",
  "A-UI-20 an artifact reaches neither page, gateway, network nor clipboard",
  "files: any kind is attached, said what is in it, given to the model, and shown again",
  "a setting is found by a word, changed, in use at once, and put back",
  "A-UI-02 hostile Markdown in questions, answers, names and tools stays words",
  "A-UI-02 the policy is on: markup from a string is refused",
  "A-UI-10 pasted markup becomes plain words",
  "the conversation and the settings: no axe findings, and nothing wider than the screen",
  // the keyboard and dialogs, dropping and pasting, downloads, sizes that are not known yet
  "who closes a dialog by Escape goes on writing where they were",
  "the palette finds chats, messages, commands and settings by the keyboard alone, the last used first",
  "files: what is dropped and pasted is attached too",
  "a chat of the list is renamed, moved, archived, saved and deleted with undo from its menu",
  "rows that have no height at first are drawn all the same",
  // what the policy holds back, in an engine that reads it by itself
  "A-UI-03 a link whose words name another site asks before it opens",
  "A-UI-20 an artifact cannot lead its frame to another place, and what it posts moves nothing",
  "A-UI-20 the network is for one artifact, after a click that says so",
  "A-UI-21 hostile SVG, diagrams, charts, formulas and pictures stay where they are",
  // approvals, memory, skills, undo
  "a command asks first, runs once when it is allowed, and shows what it did",
  "what is remembered is found, changed, forgotten and taken back",
  "a skill that a command wrote is new until it was looked at",
  "an edit shows its difference and can be undone",
  // agents, audit, channels, models, prompts
  "assistants: a picture of one's own is made small, stands in the chat, and is taken away",
  "groups: each has rules of its own, and an assistant is bound to a chat, in the settings at once",
  "search: a service's key goes where keys are kept, a server's address into the settings",
  "prompts: one with fields is kept, found behind the slash and in the palette, filled in, changed and removed",
  "services: by name, with the fields that each needs",
  // cron, tasks
  "schedules: what the assistant promises is asked for, and planned after a yes only",
  "background work: cancelled, done again and taken off the list in its pane",
  // devices, lan, nodes, update
  "A-PAIR-06 a device that asks is compared, let in, or turned away",
  "updates say which version runs, and why this build has none",
  // doctor, mcp, usage
  "the settings file is edited as text, with what changes shown first, and a mistake named",
  "one logs in at an MCP service, sees its tools, and turns it off",
  // onboarding, secrets
  "first steps: nothing is there; the message waits, a wrong key is told, the guide answers when it is asked for",
  "keys: a private file is chosen with one press, and the key that was refused is kept",
  // palette, pause, search, sessions, shortcuts, why
  "Settings and Pause have their names in the side bar, and the palette works at 360 px",
  "an earlier conversation is opened by the line and by the search, read, and continued as a chat",
  "chats are named, pinned, found and deleted",
  "why: an answer and a failure tell which rules decided",
  // the page for phones
  "phone: a message is edited, an answer made again, its versions reached, and an artifact fills the screen",
]);
