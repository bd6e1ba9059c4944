// The page makes no HTML of Markdown: it reads marked's tokens and draws them itself.
// marked comes as one file whose last statements (the default instance, what hangs on
// its function) make a bundler keep renderer, parser and hooks as well.
import type { Plugin } from "vite";

/** lexerOnly lets marked's unused half go. Nothing may import its function or its instance; structure.test.ts holds that. */
export const lexerOnly: Plugin = {
  name: "only-the-lexer-of-marked",
  transform: {
    filter: { id: /\/marked\/lib\/marked\.esm\.js$/ },
    handler(code) {
      const pieces: string[] = [];
      let done = 0;
      const put = (from: number, to: number, text: string) => {
        pieces.push(code.slice(done, from), text);
        done = to;
      };
      for (const statement of this.parse(code).body) {
        const set = statement.type === "ExpressionStatement" && statement.expression.type === "AssignmentExpression" && statement.expression.left;
        if (set && set.type === "MemberExpression") put(statement.start, statement.end, "");
        if (statement.type !== "VariableDeclaration") continue;
        for (const { init } of statement.declarations) {
          if (init?.type !== "NewExpression" && init?.type !== "MemberExpression") continue;
          put(init.start, init.end, `/* @__PURE__ */ (() => ${code.slice(init.start, init.end)})()`);
        }
      }
      return pieces.join("") + code.slice(done);
    },
  },
};
