// Draws Vega-Lite charts for the page, in a frame that can reach nothing. Their
// expressions are interpreted, not compiled, and data comes with them or not at all.
import { parse, View } from "vega";
import { expressionInterpreter } from "vega-interpreter";
import { compile, type TopLevelSpec } from "vega-lite";
import { answer } from "./answer";

const none = (): Promise<never> => Promise.reject(new Error("a chart shows only the data that is written in it"));
const loader = { load: none, sanitize: none, http: none, file: none };

answer(async ({ source, dark }) => {
  const spec = JSON.parse(source) as TopLevelSpec & { width?: unknown; height?: unknown };
  // What fills its container has none here.
  if (spec.width === "container") spec.width = 480;
  if (spec.height === "container") spec.height = 280;
  const ink = dark ? "#e8e0d8" : "#3a332d";
  const line = dark ? "#4a423b" : "#ddd3c6";
  const config = {
    background: "transparent",
    font: "system-ui, sans-serif",
    title: { color: ink },
    axis: { labelColor: ink, titleColor: ink, gridColor: line, domainColor: line, tickColor: line },
    legend: { labelColor: ink, titleColor: ink },
    header: { labelColor: ink, titleColor: ink },
    view: { stroke: "transparent" },
    ...spec.config,
  } as never;
  const warnings = { level: () => warnings, warn: () => warnings, info: () => warnings, debug: () => warnings, error: () => warnings };
  const compiled = compile(spec, { config, logger: warnings as never }).spec;
  const view = new View(parse(compiled, undefined, { ast: true } as never), {
    expr: expressionInterpreter as never,
    loader: loader as never,
    renderer: "none",
    logLevel: 0,
  });
  try {
    return await view.toSVG();
  } finally {
    view.finalize();
  }
});
