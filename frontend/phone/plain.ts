// On a phone code stays as it is: colours would double the page.
export const pieces = (): null => null;
