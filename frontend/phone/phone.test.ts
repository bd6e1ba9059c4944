// The code by which a phone is let in, and what the phone calls itself.
import { beforeEach, expect, test } from "vitest";
import { codeIn, takeCode } from "./code";
import { thisPhone } from "./line";

const secret = "S7zMPbFWtaZmOI3ylo9TpAEuEl8dc4MH-phLfsKYCB4";
const setup = btoa(JSON.stringify({ url: "wss://192.168.1.5:18789", bootstrapToken: secret, pin: "00" })).replaceAll("=", "");

test.each([
  [secret, secret],
  [` ${secret}\n`, secret],
  [`https://gw-0123456789ab.local:18789/phone#${secret}`, secret],
  [setup, secret],
  [`oc-pair://${setup}`, secret],
  [`${setup.slice(0, 40)}\n${setup.slice(40)}`, secret],
  ["", ""],
  ["nonsense", ""],
  ["https://gw-0123456789ab.local:18789/phone", ""],
  [`javascript:alert(1)`, ""],
  [`#token=${secret}&gatewayUrl=wss://evil.example`, ""],
  ["eyJ" + "x".repeat(60), ""],
  [btoa(JSON.stringify({ url: "wss://evil.example", bootstrapToken: { a: 1 } })), ""],
  ["x".repeat(600), ""],
])("codeIn(%j)", (text, want) => expect(codeIn(text)).toBe(want));

beforeEach(() => history.replaceState(null, "", "/"));

test("a code is taken once and leaves the address", () => {
  history.replaceState(null, "", `/phone#${secret}`);
  expect(takeCode()).toBe(secret);
  expect(location.pathname + location.search + location.hash).toBe("/phone/");
  expect(takeCode()).toBe("");
});

test("nothing but a code is read from the address", () => {
  history.replaceState(null, "", `/phone/?gatewayUrl=wss://evil.example&token=x#/chat/main`);
  expect(takeCode()).toBe("");
  expect(location.href.endsWith("/phone/")).toBe(true);
});

test.each([
  [
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) " +
      "Version/18.4 Mobile/15E148 Safari/604.1",
    "iOS 18",
    "iPhone",
    "iPhone (Safari)",
  ],
  [
    "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/137.0.0.0 Mobile Safari/537.36",
    "android",
    "Android",
    "Android phone (Chrome)",
  ],
  [
    "Mozilla/5.0 (Linux; Android 14; Pixel 7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/137.0.0.0 Mobile Safari/537.36",
    "android",
    "Android",
    "Pixel 7 (Chrome)",
  ],
  ["Mozilla/5.0 (X11; Linux x86_64; rv:129.0) Gecko/20100101 Firefox/129.0", "web", "", "Browser (Firefox)"],
])("what it calls itself: %s", (ua, platform, family, name) => expect(thisPhone(ua)).toEqual({ platform, family, name }));
