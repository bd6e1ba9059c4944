// What this phone does not do for the gateway, and why.

/** Refused goes back as the error of a command. */
export class Refused extends Error {
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}
