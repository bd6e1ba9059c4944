// Takes one picture with a camera of this phone and lets go of it at once.
import { Refused } from "./refused";

/** cameras lists what there is; names are known only once the person allowed the camera. */
export async function cameras(): Promise<object[]> {
  const all = (await navigator.mediaDevices?.enumerateDevices()) ?? [];
  return all
    .filter((d) => d.kind === "videoinput")
    .map((d, i) => ({
      id: d.deviceId || `camera-${i + 1}`,
      name: d.label || `Camera ${i + 1}`,
      position: /front|user/i.test(d.label) ? "front" : /back|rear|environment/i.test(d.label) ? "back" : "unspecified",
      deviceType: "camera",
    }));
}

const number = (v: unknown, low: number, high: number, otherwise: number): number =>
  typeof v === "number" && v >= low ? Math.min(v, high) : otherwise;

export async function snap(facing: "front" | "back", params: Record<string, unknown>): Promise<object> {
  const longest = number(params["maxWidth"], 64, 2048, 1600);
  const quality = number(params["quality"], 0.1, 1, 0.85);
  const stream = await ask({ facingMode: { ideal: facing === "front" ? "user" : "environment" }, width: { ideal: longest } });
  try {
    const video = document.createElement("video");
    video.muted = video.playsInline = true;
    video.srcObject = stream;
    await video.play();
    // The first frames of a camera are dark: it has to find the light.
    await new Promise((r) => setTimeout(r, number(params["delayMs"], 0, 5000, 350)));
    const scale = Math.min(1, longest / Math.max(video.videoWidth, video.videoHeight, 1));
    const canvas = document.createElement("canvas");
    canvas.width = Math.max(1, Math.round(video.videoWidth * scale));
    canvas.height = Math.max(1, Math.round(video.videoHeight * scale));
    canvas.getContext("2d")!.drawImage(video, 0, 0, canvas.width, canvas.height);
    const [, base64 = ""] = canvas.toDataURL("image/jpeg", quality).split(",");
    if (base64 === "" || video.videoWidth === 0) throw new Refused("UNAVAILABLE", "the camera gave no picture");
    return { format: "jpg", base64, width: canvas.width, height: canvas.height };
  } finally {
    for (const track of stream.getTracks()) track.stop();
  }
}

async function ask(video: MediaTrackConstraints): Promise<MediaStream> {
  if (!navigator.mediaDevices?.getUserMedia) throw new Refused("CAMERA_UNAVAILABLE", "this browser gives no camera to this page");
  try {
    return await navigator.mediaDevices.getUserMedia({ video, audio: false });
  } catch (e) {
    const name = e instanceof DOMException ? e.name : "";
    if (name === "NotAllowedError")
      throw new Refused(
        "CAMERA_PERMISSION_REQUIRED",
        "the phone's browser does not let this page use the camera; its site settings can change that",
      );
    throw new Refused(
      "CAMERA_UNAVAILABLE",
      name === "NotFoundError" ? "the phone has no camera" : "the camera cannot be used now, perhaps because another app has it",
    );
  }
}
