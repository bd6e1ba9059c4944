// A tap that was meant for what stood here a moment before must not decide
// anything: buttons that do are dead for half a second.
const wait = 500;

export function tapGuard(): { readonly ripe: boolean } {
  let yes = $state(false);
  $effect(() => {
    let timer = setTimeout(() => (yes = true), wait);
    const back = (): void => {
      if (document.visibilityState !== "visible") return;
      yes = false;
      clearTimeout(timer);
      timer = setTimeout(() => (yes = true), wait);
    };
    document.addEventListener("visibilitychange", back);
    return () => (clearTimeout(timer), document.removeEventListener("visibilitychange", back));
  });
  return {
    get ripe() {
      return yes;
    },
  };
}
