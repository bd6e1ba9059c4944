// With what this browser is let in: a link that is used once, then a token of its own.
import type { Auth, HelloOK } from "../net/wire";
import type { Database } from "../storage/database";

const tokenName = "deviceToken";

export class SignIn {
  constructor(
    private readonly keep: Database,
    /** the code of a launch link that was not used yet */
    private code: string,
  ) {}

  async credentials(): Promise<Auth | null> {
    if (this.code) return { bootstrapToken: this.code };
    const token = await this.keep.get<string>("state", tokenName);
    return token ? { deviceToken: token } : null;
  }

  async greeted(hello: HelloOK): Promise<void> {
    this.code = "";
    if (hello.auth.deviceToken) await this.keep.put("state", tokenName, hello.auth.deviceToken);
  }

  /** refused says whether to try again: a used-up link in the history of a browser that is known already. */
  async refused(): Promise<boolean> {
    if (!this.code) return false;
    this.code = "";
    return (await this.keep.get<string>("state", tokenName)) !== undefined;
  }

  /** take reads a pasted launch link or code; false when it cannot be one. */
  take(pasted: string): boolean {
    const code = /launch=([\w.~-]+)/.exec(pasted)?.[1] ?? pasted.trim();
    if (!/^[\w.~-]{4,512}$/.test(code)) return false;
    this.code = code;
    return true;
  }
}
