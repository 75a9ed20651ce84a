"use strict";
// The report: what its parts are made of.

const points = makeMap(document.getElementById("map-parts"), JSON.parse(document.getElementById("points-data").textContent));
makeTheme(document.getElementById("theme"), points.draw);
document.querySelectorAll("table.sortable").forEach(makeSortable);
document.querySelectorAll(".scroll").forEach(showMore);
for (const button of document.querySelectorAll("button.find"))
  button.addEventListener("click", () => points.find(Number(button.dataset.point)));
