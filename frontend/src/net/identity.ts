// The key of this browser: an Ed25519 pair whose private half cannot leave
// WebCrypto. It proves to the gateway that the same browser comes back.
import type { DeviceAuth } from "../protocol";
import type { Database } from "../storage/database";

export interface Identity {
  id: string;
  publicKey: string;
  sign(text: string): Promise<string>;
}

export interface SignedFields {
  deviceId: string;
  clientId: string;
  clientMode: string;
  role: string;
  scopes: string[];
  signedAt: number;
  token: string;
  nonce: string;
  platform: string;
  deviceFamily: string;
}

/** NoCrypto says that this browser cannot make the key at all. */
export class NoCrypto extends Error {
  override name = "NoCrypto";
}

const fold = (s: string): string => s.trim().replace(/[A-Z]/g, (c) => c.toLowerCase());

/** payloadV3 is the text that is signed. */
export function payloadV3(f: SignedFields): string {
  return [
    "v3", f.deviceId, f.clientId, f.clientMode, f.role, f.scopes.join(","), String(f.signedAt), f.token, f.nonce, fold(f.platform),
    fold(f.deviceFamily),
  ].join("|");
}

export function base64url(bytes: Uint8Array): string {
  let s = "";
  for (const b of bytes) s += String.fromCharCode(b);
  return btoa(s).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

export async function identityOf(pair: CryptoKeyPair): Promise<Identity> {
  const raw = new Uint8Array(await crypto.subtle.exportKey("raw", pair.publicKey));
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", raw));
  return {
    id: Array.from(hash, (b) => b.toString(16).padStart(2, "0")).join(""),
    publicKey: base64url(raw),
    sign: async (text) =>
      base64url(new Uint8Array(await crypto.subtle.sign("Ed25519", pair.privateKey, new TextEncoder().encode(text)))),
  };
}

/** loadIdentity returns the stored key of this browser, or makes one. */
export async function loadIdentity(keep: Database): Promise<Identity> {
  if (!globalThis.crypto?.subtle) throw new NoCrypto("this address is not a secure context");
  let pair = await keep.get<CryptoKeyPair>("keys", "device");
  if (!pair?.privateKey) {
    pair = await newPair(2);
    await keep.put("keys", "device", pair);
  }
  return identityOf(pair);
}

// WebKit's web view was seen to refuse, once in some hundred starts: it is asked again.
async function newPair(again: number): Promise<CryptoKeyPair> {
  try {
    return (await crypto.subtle.generateKey("Ed25519", false, ["sign", "verify"])) as CryptoKeyPair;
  } catch {
    if (again === 0) throw new NoCrypto("this browser does not know Ed25519");
    await new Promise((r) => setTimeout(r, 150));
    return newPair(again - 1);
  }
}

export async function signDevice(me: Identity, f: Omit<SignedFields, "deviceId">): Promise<DeviceAuth> {
  const signature = await me.sign(payloadV3({ ...f, deviceId: me.id }));
  return { id: me.id, publicKey: me.publicKey, signature, signedAt: f.signedAt, nonce: f.nonce };
}
