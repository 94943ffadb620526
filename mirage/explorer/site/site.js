// Sorts and filters the tables of a page, and searches the queries of the board. The pages are whole without it.
"use strict";
const value = (row, column) => {
  const words = row.cells[column].textContent.trim();
  const number = Number.parseFloat(words.replace(/[,%<+]/g, "").replace("−", "-"));
  return Number.isNaN(number) ? words : number;
};
const compare = (a, b) => {
  if (typeof a === "number" && typeof b === "number") return a - b;
  if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
  return a.localeCompare(b);
};
for (const table of document.querySelectorAll("table.sorts")) {
  const heads = [...table.tHead.rows[0].cells], body = table.tBodies[0];
  heads.forEach((head, column) => {
    if (!head.textContent.trim() || head.textContent === "Drawn") return;
    const button = document.createElement("button");
    button.className = "sort";
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const rows = [...body.rows].map((row) => [value(row, column), row]);
      rows.sort((a, b) => compare(a[0], b[0]) * (down ? -1 : 1));
      body.replaceChildren(...rows.map(([, row]) => row));
    });
  });
  if (body.rows.length < 12) continue;
  const label = document.createElement("label"), input = document.createElement("input");
  const box = document.createElement("div"), left = document.createElement("span");
  box.className = "filter";
  left.className = "note";
  left.setAttribute("role", "status");
  input.type = "search";
  label.append("Filter rows ", input);
  box.append(label, left);
  table.parentElement.before(box);
  input.addEventListener("input", () => {
    const words = input.value.toLocaleLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of body.rows) {
      const text = row.textContent.toLocaleLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
      shown += row.hidden ? 0 : 1;
    }
    left.textContent = words.length ? `${shown} of ${body.rows.length}` : "";
  });
}
const openTarget = () => {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target instanceof HTMLDetailsElement) target.open = true;
};
window.addEventListener("hashchange", openTarget);
openTarget();
// The file with the queries is loaded after this one.
document.addEventListener("DOMContentLoaded", () => {
  const search = document.getElementById("search"), queries = window.MIRAGE_QUERIES;
  if (!search || !queries) return;
  search.hidden = false;
  const input = search.querySelector("input"), list = document.getElementById("found");
  const said = search.querySelector("[role=status]");
  input.addEventListener("input", () => {
    const words = input.value.normalize("NFC").toLocaleLowerCase().trim();
    const found = words ? queries.filter((row) => row[2].normalize("NFC").toLocaleLowerCase().includes(words)) : [];
    said.textContent = words ? `${found.length} queries` : "";
    list.replaceChildren(...found.slice(0, 50).map(([code, place, text]) => {
      const item = document.createElement("li"), link = document.createElement("a");
      link.href = place;
      link.lang = code;
      link.dir = "auto";
      link.textContent = text;
      item.append(link, ` (${code})`);
      return item;
    }));
  });
});
