"use strict";
const field = document.getElementById("search");
const rows = Array.from(document.querySelectorAll("#words tbody tr"));
const count = document.getElementById("count");
field.addEventListener("input", () => {
  const asked = field.value.trim().toLowerCase();
  let shown = 0;
  for (const row of rows) {
    const there = row.textContent.toLowerCase().includes(asked);
    row.hidden = !there;
    shown += there ? 1 : 0;
  }
  count.textContent = shown + " words";
});
