// Goes to the gateway's page as soon as there is one; starts what keeps a
// gateway when there is none, and says what is wrong when that does not help.
const what = document.getElementById("what");
const why = document.getElementById("why");
const again = document.getElementById("again");
const patience = 20_000;
const wait = (ms) => new Promise((r) => setTimeout(r, ms));

async function go() {
  again.hidden = true;
  what.textContent = "Hearth is starting…";
  why.textContent = "";
  let started = false;
  for (const began = Date.now(); Date.now() - began < patience; ) {
    const b = await (await fetch("/boot")).json().catch(() => ({ why: "" }));
    if (b.link) return location.replace(b.link);
    if (b.absent && !started) {
      started = true;
      const r = await fetch("/start", { method: "POST" });
      if (!r.ok) return give((await r.text()) || `It could not be started (${r.status}).`);
    } else if (!b.absent && b.why) why.textContent = b.why;
    await wait(started ? 150 : 500);
  }
  give(why.textContent || "It did not start within 20 seconds. Its log, gateway.log in Hearth’s data folder, says why; hearth doctor reads it for you.");
}

function give(text) {
  what.textContent = "Hearth is not running";
  why.textContent = text;
  again.hidden = false;
  again.focus();
}

again.addEventListener("click", go);
go();
