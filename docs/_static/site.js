// Figures and formulas that are wider than a small screen scroll within the page; the keyboard can reach them.
addEventListener("load", () => {
  for (const part of document.querySelectorAll(".cell_output, figure.wide, div.formulas")) {
    if (part.scrollWidth > part.clientWidth) part.tabIndex = 0;
  }
});
