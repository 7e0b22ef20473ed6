"use strict";
const add = (parent, name, text, attributes = {}) => {
  const made = document.createElement(name);
  made.textContent = text;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  parent.append(made);
  return made;
};
const number = (text) => parseFloat(text.replace(/\u2212/g, "-").replace(/[<>,%\s]/g, ""));
const compare = (a, b) => {
  const [x, y] = [number(a), number(b)];
  if (!Number.isNaN(x) && !Number.isNaN(y)) return x - y;
  if (a === "" || b === "") return a === "" ? 1 : -1;
  return a.localeCompare(b);
};
const quoted = (text) => {
  const plain = text.replace(/\u2212/g, "-");
  const safe = /^[=+@\t\r]/.test(plain) || (/^-/.test(plain) && Number.isNaN(Number(plain))) ? "'" + plain : plain;
  return '"' + safe.replace(/"/g, '""') + '"';
};
document.querySelectorAll("table").forEach((table, place) => {
  const body = table.tBodies[0];
  const rows = Array.from(body.rows);
  const heads = Array.from(table.tHead.rows[0].cells);
  const caption = table.caption.textContent;
  const tools = document.createElement("div");
  tools.className = "tools";
  table.parentElement.before(tools);
  heads.forEach((head, column) => {
    const name = head.textContent;
    head.dataset.name = name;
    head.textContent = "";
    add(head, "button", name, { type: "button" }).addEventListener("click", () => {
      const up = head.getAttribute("aria-sort") !== "ascending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const order = rows.slice().sort((a, b) => {
        const found = compare(a.cells[column].textContent, b.cells[column].textContent);
        return up ? found : -found;
      });
      body.append(...order);
    });
  });
  if (table.classList.contains("many")) {
    const label = add(tools, "label", "Filter rows: ");
    const field = add(label, "input", "", { type: "search", autocomplete: "off" });
    const count = add(tools, "span", rows.length + " rows", { "aria-live": "polite" });
    field.addEventListener("input", () => {
      const asked = field.value.trim().toLowerCase();
      let shown = 0;
      for (const row of rows) {
        row.hidden = !row.textContent.toLowerCase().includes(asked);
        shown += row.hidden ? 0 : 1;
      }
      count.textContent = shown + " of " + rows.length + " rows";
    });
  }
  const save = add(tools, "button", "Download CSV", { type: "button", "aria-label": "Download as CSV: " + caption });
  save.addEventListener("click", () => {
    const lines = [heads, ...rows.map((row) => Array.from(row.cells))];
    const text = lines.map((line) => line.map((cell) => quoted(cell.dataset.name || cell.textContent)).join(",")).join("\r\n");
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob(["\ufeff" + text + "\r\n"], { type: "text/csv" }));
    link.download = "table-" + (place + 1) + ".csv";
    link.click();
    URL.revokeObjectURL(link.href);
  });
});
const opened = () => {
  const part = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (part && part.tagName === "DETAILS") part.open = true;
};
addEventListener("hashchange", opened);
opened();
const parts = Array.from(document.querySelectorAll("details"));
let shut = [];
addEventListener("beforeprint", () => { shut = parts.filter((part) => !part.open); shut.forEach((part) => { part.open = true; }); });
addEventListener("afterprint", () => shut.forEach((part) => { part.open = false; }));
