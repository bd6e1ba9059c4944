// @vitest-environment node
import { expect, test, vi } from "vitest";
import { MemoryDatabase } from "../storage/database";
import { NoCrypto, base64url, identityOf, loadIdentity, payloadV3, signDevice } from "./identity";

const fields = {
  clientId: "cli",
  clientMode: "cli",
  role: "operator",
  scopes: ["operator.read", "operator.write"],
  signedAt: 1795215472398,
  token: "test-token",
  nonce: "11111111-2222-4333-8444-555555555555",
  platform: "linux",
  deviceFamily: "",
};
const deviceId = "56475aa75463474c0285df5dbf2bcab73da651358839e9b77481b2eab107708c";

/** vector is the key pair whose seed is the bytes 0 to 31. */
async function vector(): Promise<CryptoKeyPair> {
  const seed = Uint8Array.from({ length: 32 }, (_, i) => i);
  const pkcs8 = Uint8Array.from([0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20, ...seed]);
  const privateKey = await crypto.subtle.importKey("pkcs8", pkcs8, "Ed25519", true, ["sign"]);
  const { x } = await crypto.subtle.exportKey("jwk", privateKey);
  const publicKey = await crypto.subtle.importKey("jwk", { kty: "OKP", crv: "Ed25519", x: x! }, "Ed25519", true, ["verify"]);
  return { privateKey, publicKey };
}

test("the signed text and the signature are those of the protocol's test vector", async () => {
  const text = payloadV3({ ...fields, deviceId });
  expect(text).toBe(
    `v3|${deviceId}|cli|cli|operator|operator.read,operator.write|1795215472398|test-token|11111111-2222-4333-8444-555555555555|linux|`,
  );
  const me = await identityOf(await vector());
  expect(me.id).toBe(deviceId);
  expect(me.publicKey).toBe("A6EHv_POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg");
  expect(await signDevice(me, fields)).toEqual({
    id: deviceId,
    publicKey: me.publicKey,
    signedAt: fields.signedAt,
    nonce: fields.nonce,
    signature: "yr_4b_rnJMJ92ZhcwoRBAWZXAO9-VOIiqH8Vja8h62QR7Yb1CYeSE5sR9TorbfwO30qXDdptyWdu0Lqli9fCDw",
  });
});

test("platform and family are folded, only in ASCII", () => {
  expect(payloadV3({ ...fields, deviceId: "d", platform: " Linux X86_64 ", deviceFamily: "İPhone" })).toContain("|linux x86_64|İphone");
});

test("A-SEC: the key is made once, kept, and its private half cannot be taken out", async () => {
  const keep = new MemoryDatabase();
  const first = await loadIdentity(keep);
  expect((await loadIdentity(keep)).id).toBe(first.id);
  const pair = (await keep.get<CryptoKeyPair>("keys", "device"))!;
  expect(pair.privateKey.extractable).toBe(false);
  await expect(crypto.subtle.exportKey("pkcs8", pair.privateKey)).rejects.toThrow();
});

test("a browser that refuses to make a key is asked again, and believed in the end", async () => {
  const refuse = vi.spyOn(crypto.subtle, "generateKey").mockRejectedValueOnce(new Error("not now"));
  expect((await loadIdentity(new MemoryDatabase())).id).toHaveLength(64);
  refuse.mockRejectedValue(new Error("never"));
  await expect(loadIdentity(new MemoryDatabase())).rejects.toBeInstanceOf(NoCrypto);
  refuse.mockRestore();
});

test("base64url has no padding and no unsafe characters", () => {
  expect(base64url(Uint8Array.from([251, 255, 254, 1]))).toBe("-__-AQ");
});
