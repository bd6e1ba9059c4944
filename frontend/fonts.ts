// KaTeX's style names each font in three formats; every browser that can show this
// page reads the first one.
import type { Plugin } from "vite";

/** oneFormat leaves woff and ttf out, so that Hearth does not carry them. */
export const oneFormat: Plugin = {
  name: "one-format-of-fonts",
  enforce: "pre",
  transform: (code, id) =>
    id.endsWith("/katex.min.css") ? code.replace(/,url\([^)]*\.(?:woff|ttf)\) format\("(?:woff|truetype)"\)/g, "") : undefined,
};
