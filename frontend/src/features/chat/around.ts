// What a conversation shows of other features. The page passes it, so that this
// one knows none of them.
import { createContext, type Snippet } from "svelte";
import type { Approval, ModelInfo } from "../../net/wire";
import type { PromptTemplate } from "../../protocol";

export interface Around {
  /** nobody has chosen yet what answers */
  readonly fresh: boolean;
  /** the built-in guide answers here */
  readonly isGuide: boolean;
  /** the changes of this answer to files were taken back */
  undone(runId: string): boolean;
  /** something in this run waits for a decision */
  asksIn(runId: string): boolean;
  /** what a call that runs waits for */
  forCall(runId: string, callId: string): Approval | undefined;
  /** how long a call waited for its person; that is no time of the tool */
  waited(runId: string, callId: string): number;
  /** what people call a messaging network */
  network(id: string): string;
  /** an account on that network is set up */
  connected(id: string): boolean;
  /** the models that may answer */
  readonly models: readonly ModelInfo[];
  /** writes a prompt that the person keeps, and asks for its fields before */
  usePrompt(prompt: PromptTemplate): void;
  /** opens the list of models */
  pickModel(): void;
  /** shows a request that waits for its decision */
  request: Snippet<[Approval]>;
}

export const [useAround, provideAround] = createContext<Around>();
