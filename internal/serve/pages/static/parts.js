// Shows a page anew without loading it: the server makes the whole page, and the parts of it that live are put in
// the place of those that are shown. What has the focus keeps it; what is open stays open.
export async function replaceParts() {
  const answer = await fetch(location.href, { headers: { Accept: "text/html", "X-Seine-Parts": "1" }, cache: "no-store" });
  if (!answer.headers.get("Content-Type")?.startsWith("text/html")) return;
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  for (const old of document.querySelectorAll("[data-live][id]")) {
    const now = fresh.getElementById(old.id);
    if (now && (old.dataset.shown ?? old.innerHTML) !== now.innerHTML && !busy(old)) replace(old, now);
  }
}

// busy is true of a part in which somebody marks or writes something, or has something open.
function busy(part) {
  const selection = getSelection();
  return part.querySelector("details[open]") !== null || part.contains(document.activeElement) && document.activeElement.matches("input, textarea, select") ||
    !selection.isCollapsed && part.contains(selection.anchorNode);
}

function replace(old, now) {
  const focused = old.contains(document.activeElement) ? pathTo(old, document.activeElement) : null;
  const scrolled = [...old.querySelectorAll(".scroll")].map((el) => el.scrollLeft);
  old.dataset.shown = now.innerHTML;
  old.replaceChildren(...document.adoptNode(now).childNodes);
  old.querySelectorAll(".scroll").forEach((el, i) => { el.scrollLeft = scrolled[i] ?? 0; });
  if (focused) find(old, focused)?.focus({ preventScroll: true });
}

// pathTo says which element it is: a link by its address, another by its place.
function pathTo(root, el) {
  const tag = el.localName;
  return { tag, href: el.getAttribute("href"), at: [...root.querySelectorAll(tag)].indexOf(el) };
}

function find(root, { tag, href, at }) {
  const all = [...root.querySelectorAll(tag)];
  return all.find((el) => href !== null && el.getAttribute("href") === href) ?? all[at];
}
