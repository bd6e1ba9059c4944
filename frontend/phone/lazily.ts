// What comes after the first sight, in one piece.
export type Attaching = typeof import("./attaching");

/** attaching brings what files need. */
export const attaching = (): Promise<Attaching> => import("./attaching");
