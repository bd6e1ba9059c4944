import { describe, expect, test } from "vitest";
import { decode } from "./entities";
import { safeLink } from "./links";

describe("links", () => {
  const refused = [
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    " javascript:alert(1)",
    "java\tscript:alert(1)",
    "java\nscript:alert(1)",
    "\u0001javascript:alert(1)",
    "&#106;avascript:alert(1)",
    "javascript&colon;alert(1)",
    "vbscript:x",
    "data:text/html,x",
    "file:///etc/passwd",
    "blob:https://a/b",
    "about:blank",
    "//evil.example",
    "/healthz",
    "x.html",
    "#a",
    "?q",
    "",
    "https:",
    "https://",
    "https:///",
    "https://user:pw@evil.example/",
    "https://user@evil.example/",
    "https://exam\u202eple.com",
    "https://example.com/\u200b",
    "http:\\\\evil.example",
    "https:evil.example",
    "tel:123",
    "hearth://x",
    "wss://a.b",
    "mailto:",
    "mailto:a",
    "mailto:a@b c@d",
    "https://example.com/" + "a".repeat(5000),
  ];
  test.each(refused)("A-UI-03: %j is not a link", (href) => {
    expect(safeLink(href, "words")).toBeNull();
  });

  test.each([
    ["https://example.com/a?b=c#d", "docs", "https://example.com/a?b=c#d", "example.com", false, false],
    ["HTTP://EXAMPLE.com", "docs", "http://example.com/", "example.com", false, false],
    ["https://example.com/", "example.com", "https://example.com/", "example.com", false, true],
    ["https://www.example.com/", "see example.com", "https://www.example.com/", "www.example.com", false, true],
    ["https://evil.example/", "bank.example", "https://evil.example/", "evil.example", true, false],
    ["https://evil.example/", "https://bank.example/login", "https://evil.example/", "evil.example", true, false],
    ["https://evil.example:8443/", "words", "https://evil.example:8443/", "evil.example:8443", false, false],
    ["https://b\u00fccher.example/", "b\u00fccher.example", "https://xn--bcher-kva.example/", "xn--bcher-kva.example", false, true],
    ["https://github.com/a/b/blob/main/README.md", "README.md", "https://github.com/a/b/blob/main/README.md", "github.com", false, false],
    ["https://evil.example/", "https://README.md", "https://evil.example/", "evil.example", true, false],
    ["https://example.com/?a=1&amp;b=2", "x", "https://example.com/?a=1&b=2", "example.com", false, false],
    ["mailto:me@example.com?subject=x&body=y", "mail", "mailto:me@example.com", "me@example.com", false, false],
  ])("%s as %j", (href, text, want, host, mismatch, shown) => {
    expect(safeLink(href, text)).toEqual({ href: want, host, mismatch, shown });
  });
});

test("character references", () => {
  expect(decode("a &amp; b &lt;c&gt; &quot;d&quot; &#39;e&#x27; &nbsp;")).toBe("a & b <c> \"d\" 'e' \u00a0");
  expect(decode("&amp;lt;")).toBe("&lt;");
  expect(decode("&unknown; &#0; &#xD800; &#x110000; &; &#; & x")).toBe("&unknown; \ufffd \ufffd \ufffd &; &#; & x");
  expect(decode("&constructor; &__proto__; &toString;")).toBe("&constructor; &__proto__; &toString;");
});
