// What comes after the first sight, in one piece.
export type Attaching = typeof import("./attaching");

/** attaching brings what files need. */
export const attaching = (): Promise<Attaching> => import("./attaching");

/** gone brings what is said of a chat that was deleted elsewhere. */
export const gone = (): Promise<typeof import("../src/features/chat/Gone.svelte").default> => import("./gone").then((m) => m.Gone);

/** acts brings what can be done with a message. */
export const acts = (): Promise<typeof import("./Acts.svelte").default> => import("./acts").then((m) => m.Acts);
