// Leads from what is wrong with a text to the place of it.
export function leadToLines() {
  const text = document.getElementById("text");
  for (const link of document.querySelectorAll("a[data-line]")) {
    link.addEventListener("click", (e) => {
      e.preventDefault();
      const lines = text.value.split("\n");
      const line = Math.max(1, Number(link.dataset.line));
      const start = lines.slice(0, line - 1).reduce((n, l) => n + l.length + 1, 0);
      text.focus();
      text.setSelectionRange(start, start + (lines[line - 1] ?? "").length);
      text.scrollTop = (line - 3) * text.scrollHeight / lines.length;
    });
  }
}
