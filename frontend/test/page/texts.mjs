// Texts that the page's tests show.
export const rich = `Sure! Here is a **short plan** for the week, with *room to breathe*.

## Monday to Wednesday

1. Finish the draft of the report
   - collect the numbers from \`sales.csv\`
   - ask Mira for the missing quarter
2. Book the train, see [the timetable](https://www.bahn.example/timetable)
3. Call the plumber

> Plans are nothing; planning is everything.

| Day | Focus | Hours |
|:----|:------|------:|
| Mon | Report | 4.5 |
| Tue | Calls and errands | 3 |
| Wed | Review | 2 |

- [x] groceries
- [ ] birthday card

### A small script

\`\`\`python
from datetime import date, timedelta

def week(start: date) -> list[str]:
    """Names of the days of a week."""
    return [(start + timedelta(days=i)).strftime("%A") for i in range(7)]

print(week(date.today()))  # seven names
\`\`\`

Shall I put this into your calendar?`;

export const longCode = "Here is the whole program:\n\n```go\npackage main\n\nimport (\n\t\"context\"\n\t\"fmt\"\n\t\"log/slog\"\n\t\"os\"\n)\n\n// Job is one piece of work with a very long comment that goes on and on so that the line has to scroll sideways in a narrow window.\ntype Job struct {\n\tID   int\n\tName string\n}\n\n" +
  Array.from({ length: 60 }, (_, i) => `func step${i}(ctx context.Context, j Job) error {\n\tif j.ID == ${i} {\n\t\treturn fmt.Errorf("step %d: %q failed", ${i}, j.Name)\n\t}\n\treturn nil\n}\n`).join("\n") +
  "\nfunc main() {\n\tslog.Info(\"done\", \"args\", os.Args)\n}\n```\n\nRun it with `go run .` and tell me what it prints.";

/** hostile is Markdown that must stay words. */
export const hostile = [
  `<script>alert(1)</script>`,
  `<img src=x onerror=alert(1)>`,
  `<svg onload=alert(1)><animate onbegin=alert(1) attributeName=x dur=1s></svg>`,
  `<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=alert(1)&gt;">`,
  `<details open ontoggle=alert(1)><summary>x</summary></details>`,
  `<iframe srcdoc="<script>parent.alert(1)</script>"></iframe>`,
  `<form action=javascript:alert(1)><input type=submit></form>`,
  `<base href="https://evil.example/">`,
  `<meta http-equiv=refresh content="0;url=https://evil.example/">`,
  `<link rel=prefetch href=https://evil.example/x>`,
  `<a href="javascript:alert(1)">raw</a>`,
  `[click](javascript:alert(1))`,
  `[click](JaVaScRiPt:alert(1))`,
  `[click](java\tscript:alert(1))`,
  `[click](&#106;avascript:alert(1))`,
  `[click](javascript&colon;alert(1))`,
  `[click](vbscript:msgbox(1))`,
  `[click](data:text/html,<script>alert(1)</script>)`,
  `[click](file:///etc/passwd)`,
  `[click](//evil.example/x)`,
  `[click](/healthz)`,
  `[click](https://user:pw@evil.example/)`,
  `[https://bank.example](https://evil.example/login)`,
  `[x]( \u0001javascript:alert(1))`,
  `[ref][j]\n\n[j]: javascript:alert(1)`,
  `<javascript:alert(1)>`,
  `![x](https://evil.example/pixel.png?secret=1)`,
  `![x" onerror="alert(1)](https://evil.example/a.png "t\\" onload=alert(1)")`,
  `![x](javascript:alert(1))`,
  "```js\" onclick=\"alert(1)\nlet x = 1;\n```",
  "```<img src=x onerror=alert(1)>\ncode\n```",
  "```__proto__\ncode\n```",
  "```constructor\ncode\n```",
  "`<img src=x onerror=alert(1)>`",
  `| <img src=x onerror=alert(1)> | b |\n|---|---|\n| <script>alert(1)</script> | [x](javascript:alert(1)) |`,
  `# <img src=x onerror=alert(1)>`,
  `- <iframe src=javascript:alert(1)>\n- [ ] <b onmouseover=alert(1)>x</b>`,
  `> <style>*{display:none}</style>`,
  `<!-- --><img src=x onerror=alert(1)><!-- -->`,
  `<div id=app name=location class=shell style="position:fixed;inset:0">cover</div>`,
  `\u202Eevil.exe\u202C and z${"\u0301".repeat(200)}algo`,
  `&lt;img src=x onerror=alert(1)&gt; &#60;script&#62;alert(1)&#60;/script&#62;`,
  `<br><BR/><br onclick=alert(1)>`,
];
