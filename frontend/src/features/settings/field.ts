// What a setting that needs no more than a form is, for fields.ts and sections.ts.
interface Base {
  path: string;
  /** what holds when the file says nothing */
  fallback: unknown;
}

export type FieldSpec =
  | (Base & { kind: "switch"; /** the two values, when they are not true and false */ on?: string; off?: string })
  | (Base & {
      kind: "choice";
      options: readonly string[];
      /** what the choice belongs to: while nothing stands there, none of the options holds */ of?: string;
    })
  | (Base & { kind: "number"; min: number; max: number; /** in steps of a fraction, as money is */ fine?: boolean })
  | (Base & { kind: "text"; example?: string })
  | (Base & { kind: "model" });
