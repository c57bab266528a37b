// One connection for events for all tabs of a browser, held by a shared worker: over HTTP/1.1 a browser has no more
// than six to a server. Where there is no such worker, each tab has its own.
const key = "seine-live";
const button = document.getElementById("pause");
const word = document.getElementById("pause-word");
const lost = document.getElementById("lost");

export function follow(url, show) {
  document.getElementById("following").hidden = false;
  let behind = false, busy = false;
  const look = async () => {
    if (!live()) return;
    if (document.hidden || busy) { behind = true; return; }
    busy = true;
    try { await show(); } catch { /* the next event shows it */ } finally { busy = false; }
    if (behind && !document.hidden) { behind = false; look(); }
  };
  const source = connect(new URL(url, location.href).href, {
    look, open: () => { lost.hidden = true; }, error: () => { lost.hidden = !live(); },
  });
  document.addEventListener("visibilitychange", () => { if (behind && !document.hidden) { behind = false; look(); } });
  addEventListener("storage", (e) => { if (e.key === key) told(); });
  button.addEventListener("click", () => { localStorage.setItem(key, live() ? "off" : "on"); told(); look(); });
  told();

  function told() {
    button.setAttribute("aria-pressed", String(!live()));
    word.textContent = live() ? "Live" : "Paused";
    source.live(live());
    if (!live()) lost.hidden = true;
  }
}

function live() { return localStorage.getItem(key) !== "off"; }

function connect(url, on) {
  if (typeof SharedWorker === "undefined") return ownSource(url, on);
  const worker = new SharedWorker(new URL("./events-worker.js", import.meta.url), { name: "seine " + url });
  worker.port.onmessage = (e) => on[e.data]?.();
  worker.port.start();
  addEventListener("pagehide", () => worker.port.postMessage({ gone: true }));
  return { live: (is) => worker.port.postMessage({ url, live: is }) };
}

function ownSource(url, on) {
  let source;
  return {
    live(is) {
      if (!is) { source?.close(); source = undefined; return; }
      if (source) return;
      source = new EventSource(url);
      source.onopen = on.open;
      source.onerror = on.error;
      source.addEventListener("stats", on.look);
    },
  };
}
