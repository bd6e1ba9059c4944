// Debian's Firefox, driven by WebDriver BiDi, for a part of the page's tests. It has no
// command yet to make a page believe in a dark or quiet system, which Playwright sends to
// every one; without the answer it goes on.
import { existsSync } from "node:fs";
import * as playwright from "playwright-core";

export const firefoxes = [process.env.FIREFOX, "/usr/bin/firefox-esr", "/usr/bin/firefox"];

export async function launchFirefox() {
  const browser = await playwright.firefox.launch({ executablePath: firefoxes.find((p) => p && existsSync(p)), channel: "moz-firefox", timeout: 60_000 });
  const session = Object.getPrototypeOf(toImpl(browser)._browserSession);
  const { send } = session;
  session.send = function (method, params) {
    return method === "emulation.setMediaFeaturesOverride" ? Promise.resolve({}) : send.call(this, method, params);
  };
  return browser;
}

/** toImpl is what stands behind an object of Playwright in this process. */
function toImpl(o) {
  const impl = (o._toImpl ?? playwright.default?._toImpl ?? o._connection?.toImpl)?.call(o._connection ?? o, o);
  if (!impl) throw new Error("this version of Playwright has another inside: look at toImpl in firefox.mjs");
  return impl;
}

/** names are the cases that run in Firefox too: what another engine could do otherwise. */
export const names = new Set([
  "a message is answered, word by word",
  "messages written during an answer wait and are answered in order",
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
]);
