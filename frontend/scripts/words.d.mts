import type { Plugin } from "vite";

export declare function words(rest?: readonly string[]): Plugin;
export declare function wordsName(id: string | null): string;
