// Draws Mermaid diagrams for the page, in a frame that can reach nothing: it has
// no origin, no network and no storage. What it hands back is shown as a picture.
import mermaid from "mermaid";
import { answer } from "./answer";

answer(async ({ source, dark }) => {
  mermaid.initialize({
    startOnLoad: false,
    securityLevel: "strict",
    theme: dark ? "dark" : "neutral",
    fontFamily: "system-ui, sans-serif",
    // Words as SVG text: pictures with HTML inside are not drawn everywhere.
    htmlLabels: false,
    flowchart: { htmlLabels: false },
    maxTextSize: 50_000,
    maxEdges: 500,
    suppressErrorRendering: true,
    secure: ["secure", "securityLevel", "startOnLoad", "maxTextSize", "maxEdges", "htmlLabels", "flowchart", "suppressErrorRendering", "fontFamily", "themeCSS"],
  });
  return (await mermaid.render("drawing", source)).svg;
});
