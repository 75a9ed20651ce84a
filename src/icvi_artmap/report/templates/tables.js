"use strict";
// Tables that sort by their heads, and wide ones that tell where there is more of them.

const cellValue = (row, column) => {
  const cell = row.cells[column];
  if (cell.dataset.value === undefined) return cell.textContent.trim();
  return Number(cell.dataset.value);
};
const compareCells = (a, b) => {
  if (typeof a === "number" && typeof b === "number") {
    if (Number.isNaN(a) || Number.isNaN(b)) return null;
    return a === b ? 0 : a < b ? -1 : 1;
  }
  return String(a).localeCompare(String(b), undefined, { numeric: true });
};

function makeSortable(table) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "sort";
    button.append(...head.childNodes);
    head.append(button);
    head.setAttribute("aria-sort", "none");
    button.addEventListener("click", () => {
      const up = head.getAttribute("aria-sort") !== "ascending";
      for (const other of heads) other.setAttribute("aria-sort", "none");
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const body = table.tBodies[0];
      const rows = [...body.rows].map((row) => [cellValue(row, column), row]);
      rows.sort(([a], [b]) => {
        const order = compareCells(a, b);
        // What is not a number comes last, either way.
        if (order === null) return Number.isNaN(a) - Number.isNaN(b);
        return up ? order : -order;
      });
      body.append(...rows.map(([, row]) => row));
    });
  });
}

// Marks the sides on which a box can be scrolled; the style sheet draws a shadow there.
function showMore(scroll) {
  const tell = () => {
    const rest = scroll.scrollWidth - scroll.clientWidth - scroll.scrollLeft;
    scroll.parentElement.classList.toggle("more-left", scroll.scrollLeft > 1);
    scroll.parentElement.classList.toggle("more-right", rest > 1);
  };
  scroll.addEventListener("scroll", tell, { passive: true });
  new ResizeObserver(tell).observe(scroll);
  for (const part of scroll.children) new ResizeObserver(tell).observe(part);
}
