// What comes after the first sight, in one piece.
export type Attaching = typeof import("./attaching");

/** attaching brings what files need. */
export const attaching = (): Promise<Attaching> => import("./attaching");

/** acts brings what can be done with a message. */
export const acts = (): Promise<typeof import("./Acts.svelte").default> => import("./acts").then((m) => m.Acts);
