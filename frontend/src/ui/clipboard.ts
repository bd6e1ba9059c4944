// Copying text, also where the clipboard API is not there.
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return byCommand(text);
  }
}

function byCommand(text: string): boolean {
  const area = document.createElement("textarea");
  area.value = text;
  area.className = "sr";
  area.readOnly = true;
  document.body.append(area);
  area.select();
  try {
    return document.execCommand("copy");
  } catch {
    return false;
  } finally {
    area.remove();
  }
}
