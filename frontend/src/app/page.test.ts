import { beforeEach, describe, expect, test } from "vitest";
import en from "../i18n/en/page.json";
import { t } from "../i18n/t";
import { dayName } from "../i18n/time";
import { titleOf } from "../session/sessions.svelte";
import { Panels } from "../shell/panels.svelte";
import { go, onward, sessionInUrl, takeLaunch } from "../shell/route";
import { draftOf, keepDraft } from "../storage/local";
import { oneLine, sentence } from "../text/oneline";

beforeEach(() => history.replaceState(null, "", "/"));

describe("the address", () => {
  test("A-WEB-10: a launch code is taken once and wiped", () => {
    history.replaceState(null, "", "/#launch=abc-DEF_123");
    expect(takeLaunch().code).toBe("abc-DEF_123");
    expect(location.href).toBe("http://localhost:3000/");
    expect(takeLaunch().code).toBe("");
  });

  test("A-WEB-04: nothing else in the address is a code, a token or a gateway", () => {
    for (const url of [
      "/?launch=abcdef",
      "/?token=abcdef",
      "/#token=abcdef",
      "/?gatewayUrl=ws://evil",
      "/#gatewayUrl=ws://evil",
      "/#x&launch=abcdef",
      "/#launch=a b",
      "/#launch=",
    ]) {
      history.replaceState(null, "", url);
      expect(takeLaunch().code, url).toBe("");
    }
    history.replaceState(null, "", "/#launch=<script>");
    takeLaunch().code;
    expect(location.hash).toBe("");
  });

  test("a place to go to comes with a code, and only then", () => {
    const at = (url: string): string[] => (history.replaceState(null, "", url), takeLaunch().where);
    expect(at("/#launch=abcd&go=settings%2Fusage")).toEqual(["settings", "usage"]);
    expect(at("/#launch=abcd&go=chat%2Fagent%253Amain%253Aa%252Fb")).toEqual(["chat", "agent:main:a/b"]);
    expect(at("/#launch=abcd&go=settings%2F%25")).toEqual(["settings", ""]);
    expect(at("/#go=settings")).toEqual([""]);
  });

  test("a session key goes into the address and comes back", () => {
    for (const key of ["agent:main:main", "agent:main:a/b#c?d%e", "ünï"]) {
      go(key);
      expect(sessionInUrl()).toBe(key);
    }
    for (const hash of ["", "#/chat/", "#/chat/%", "#/chat/%00", "#/chat/" + "a".repeat(600), "#/other/x"]) {
      history.replaceState(null, "", "/" + hash);
      expect(sessionInUrl(), hash).toBe("");
    }
  });
});

describe("Back", () => {
  const popped = (): Promise<unknown> => new Promise((done) => addEventListener("popstate", done, { once: true }));

  test("closes what is open over the page, and the chat behind it stays", async () => {
    go("one");
    go("two");
    const panels = new Panels();
    panels.open({ kind: "palette" });
    panels.open({ kind: "settings" });
    history.back();
    await popped();
    expect(panels.back()).toBe(true);
    expect(panels.now).toBeNull();
    expect(sessionInUrl()).toBe("two");
    expect(panels.back()).toBe(false);
  });

  test("takes no second press for what was closed otherwise", async () => {
    go("one");
    go("two");
    const panels = new Panels();
    panels.open({ kind: "settings" });
    panels.close();
    history.back();
    await popped();
    onward("two");
    await popped();
    expect(sessionInUrl()).toBe("one");
    onward("two"); // it shows another chat: that is where the person wanted to go
    await new Promise((done) => setTimeout(done, 20));
    expect(sessionInUrl()).toBe("one");
  });

  test("a chat that is opened from there takes the place of what was open", async () => {
    go("one");
    const panels = new Panels();
    panels.open({ kind: "palette" });
    panels.close();
    go("two");
    history.back();
    await popped();
    expect(sessionInUrl()).toBe("one");
  });
});

test("A-UI-05: names cannot break lines or turn the direction", () => {
  expect(oneLine("a\nb\u202Ec\u2066d\t\u0007e")).toBe("a b c d e");
  expect(oneLine("x".repeat(500))).toHaveLength(120);
  expect(oneLine("x".repeat(500))).toMatch(/x…$/);
  expect(oneLine("x".repeat(120))).toBe("x".repeat(120));
  expect(sentence("why ".repeat(80))).toBe("why ".repeat(80).trim());
  expect(titleOf(undefined, true)).toBe(t("session.main"));
});

test("drafts are kept for each session and removed when empty", () => {
  keepDraft("a", "words");
  keepDraft("b", "others");
  expect([draftOf("a"), draftOf("b"), draftOf("c")]).toEqual(["words", "others", ""]);
  keepDraft("a", "");
  expect(localStorage.length).toBe(1);
});

test("days have the names people use", () => {
  const now = new Date(2026, 5, 15, 12).getTime();
  expect(dayName(new Date(2026, 5, 15, 0, 1).getTime(), now)).toBe("Today");
  expect(dayName(new Date(2026, 5, 14, 23, 59).getTime(), now)).toBe("Yesterday");
  expect(dayName(new Date(2026, 5, 10).getTime(), now)).toContain("June");
  expect(dayName(new Date(2024, 5, 10).getTime(), now)).toContain("2024");
});

test("every word of the page is used, and every argument is named", () => {
  const sources = import.meta.glob(["../**/*.{ts,svelte}", "!../**/*.test.ts"], {
    query: "?raw",
    import: "default",
    eager: true,
  }) as Record<string, string>;
  const all = Object.values(sources).join("\n");
  const built = /^(?:status|tool)\./;
  for (const key of Object.keys(en)) expect(built.test(key) || all.includes(`"${key}"`), key).toBe(true);
  expect(t("side.unsent", { n: 3 })).toBe("3 not sent yet");
  expect(t("side.unsent")).toContain("{n}");
});
