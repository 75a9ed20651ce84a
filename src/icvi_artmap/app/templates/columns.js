"use strict";
// The columns of the file: what they hold, and which of them are used.

const columnList = document.querySelector("#column-list tbody");
let columns = [];

const boxes = () => [...columnList.querySelectorAll("input")];
const usedColumns = () => boxes().filter((box) => box.checked).map((box) => columns[box.value].name);

const tellUsed = () => {
  const used = usedColumns().length;
  document.getElementById("columns-used").textContent =
    `${used} of ${columns.length} ${columns.length === 1 ? "column" : "columns"} used.`;
  for (const box of boxes()) box.closest("tr").classList.toggle("off", !box.checked);
};

const columnRow = (column, i) => {
  const row = document.createElement("tr");
  const box = document.createElement("input");
  box.type = "checkbox";
  box.id = `use-${i}`;
  box.value = i;
  box.checked = column.used;
  box.disabled = !column.usable;
  box.setAttribute("aria-label", `use ${column.name}`);
  row.insertCell().append(box);
  const name = document.createElement("th");
  name.scope = "row";
  const label = document.createElement("label");
  label.htmlFor = box.id;
  label.textContent = column.name;
  name.append(label);
  row.append(name);
  for (const text of [column.look, column.range, column.note]) row.insertCell().textContent = text;
  return row;
};

const fillSelect = (select, names) => {
  select.replaceChildren(new Option("none", ""));
  for (const name of names) select.add(new Option(name, name));
};

function showColumns(file) {
  columns = file.columns;
  columnList.replaceChildren(...columns.map(columnRow));
  const names = columns.map(({ name }) => name);
  fillSelect(document.getElementById("id-column"), names);
  fillSelect(document.getElementById("label-column"), names);
  document.getElementById("missing").value =
    columns.some(({ used, missing }) => used && missing) ? "neighbours" : "error";
  tellUsed();
}

const switchAll = (on) => {
  boxes().forEach((box, i) => (box.checked = columns[i].usable && on(columns[i])));
  tellUsed();
};
columnList.addEventListener("change", tellUsed);
document.getElementById("columns-default").addEventListener("click", () => switchAll(({ used }) => used));
document.getElementById("columns-all").addEventListener("click", () => switchAll(() => true));
document.getElementById("columns-none").addEventListener("click", () => switchAll(() => false));
// A column that names rows or has known groups is no data.
for (const id of ["id-column", "label-column"])
  document.getElementById(id).addEventListener("change", ({ target }) => {
    boxes().forEach((box, i) => {
      if (columns[i].name === target.value) box.checked = false;
    });
    tellUsed();
  });
