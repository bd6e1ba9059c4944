// Where this phone is, once.
import { Refused } from "./refused";

export function place(params: Record<string, unknown>): Promise<object> {
  const positive = (v: unknown, otherwise: number): number => (typeof v === "number" && v > 0 ? v : otherwise);
  const exact = params["desiredAccuracy"] === "precise";
  return new Promise((resolve, reject) => {
    if (!navigator.geolocation) return reject(new Refused("LOCATION_UNAVAILABLE", "this browser does not know where it is"));
    navigator.geolocation.getCurrentPosition(
      ({ coords: c, timestamp }) =>
        resolve({
          lat: c.latitude,
          lon: c.longitude,
          accuracyMeters: c.accuracy,
          altitudeMeters: c.altitude ?? undefined,
          speedMps: c.speed ?? undefined,
          headingDeg: c.heading ?? undefined,
          timestamp: new Date(timestamp).toISOString(),
          isPrecise: c.accuracy <= 100,
          source: "browser",
        }),
      (e) =>
        reject(
          e.code === e.PERMISSION_DENIED
            ? new Refused(
                "LOCATION_PERMISSION_REQUIRED",
                "the phone's browser does not tell this page where it is; its site settings can change that",
              )
            : new Refused(e.code === e.TIMEOUT ? "LOCATION_TIMEOUT" : "LOCATION_UNAVAILABLE", "the phone could not find out where it is"),
        ),
      {
        enableHighAccuracy: exact,
        timeout: Math.min(positive(params["timeoutMs"], 10_000), 60_000),
        maximumAge: positive(params["maxAgeMs"], 15_000),
      },
    );
  });
}
