
/** Level is a closed set. */
export type Level = "low" | "high";

export const LevelLow = "low";
/** as high as it goes */
export const LevelHigh = "high";

// Limits of everything.
export const MaxSize = 26214400;
export const Name = "a \"name\"";

/** no constants: any string */
export type Open = string;

/** All has one of each. It ends a comment: * / here. */
export interface All {
  in: number;
  out: number;
  text: string;
  maybe?: string;
  /** a trailing word */
  n: number;
  level?: Level;
  levels: Level[];
  pointer: All | null;
  absent?: All;
  nullable: (number | null)[];
  raw: unknown;
  map?: Record<string, unknown>;
  bytes: string;
  patched?: boolean | null;
  /**
   * Two lines
   * of words.
   */
  __other: boolean;
}
