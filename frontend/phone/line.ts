// A connection of this phone. It has two with one key: one to talk, and one by
// which the gateway asks it for things.
import { signDevice } from "../src/net/identity";
import { Socket, type SocketOptions } from "../src/net/socket";
import type { Auth, Challenge, ConnectParams, Scope } from "../src/net/wire";

export interface As {
  mode: "ui" | "node";
  role: "operator" | "node";
  scopes: Scope[];
  caps: string[];
  commands?: string[];
}

export const clientId = "hearth-phone";

export class Line extends Socket {
  constructor(
    o: SocketOptions,
    private readonly as: As,
    private readonly me: { family: string; name: string },
  ) {
    super(o);
  }

  protected override async connectParams(auth: Auth, challenge: Challenge): Promise<ConnectParams> {
    const { platform, identity, version } = this.o;
    const { role, scopes, caps, mode, commands } = this.as;
    const device = await signDevice(identity, {
      clientId,
      clientMode: mode,
      role,
      scopes,
      signedAt: challenge.ts || Date.now(),
      token: auth.token ?? auth.deviceToken ?? auth.bootstrapToken ?? "",
      nonce: challenge.nonce,
      platform,
      deviceFamily: this.me.family,
    });
    return {
      minProtocol: 4,
      maxProtocol: 4,
      role,
      scopes,
      caps,
      device,
      auth,
      client: { id: clientId, mode, version, platform, displayName: this.me.name, deviceFamily: this.me.family },
      ...(commands ? { commands } : {}),
      locale: navigator.language,
      userAgent: navigator.userAgent.slice(0, 200),
    };
  }
}

/** thisPhone is what it calls itself; it proves nothing. */
export function thisPhone(ua = navigator.userAgent): { platform: string; family: string; name: string } {
  const ios = /iPhone|iPad|iPod/.exec(ua)?.[0];
  const model = /Android [^;)]*; ([^;)]{2,40})/.exec(ua)?.[1]?.replace(/ Build.*/, "");
  const browser = /Firefox|FxiOS/.test(ua) ? "Firefox" : /CriOS|Chrome/.test(ua) ? "Chrome" : /Safari/.test(ua) ? "Safari" : "browser";
  if (ios) return { platform: `iOS ${/OS (\d+)[_\d]* like/.exec(ua)?.[1] ?? ""}`.trim(), family: ios, name: `${ios} (${browser})` };
  if (/Android/.test(ua))
    return { platform: "android", family: "Android", name: `${model && model !== "K" ? model : "Android phone"} (${browser})` };
  return { platform: "web", family: "", name: `Browser (${browser})` };
}
