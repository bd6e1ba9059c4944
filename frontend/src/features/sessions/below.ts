// Where a menu opens that belongs to a button: below it, in line with its beginning.
export function below(button: HTMLElement): { x: number; y: number } {
  const at = button.getBoundingClientRect();
  return { x: document.dir === "rtl" ? at.right : at.left, y: at.bottom + 4 };
}
