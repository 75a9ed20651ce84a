"use strict";
// The report: what its parts are made of.

const points = makeMap(document.getElementById("map-parts"), JSON.parse(document.getElementById("points-data").textContent));
makeTheme(document.getElementById("theme"), points.draw);
document.querySelectorAll("table.sortable").forEach(makeSortable);
document.querySelectorAll(".scroll").forEach(showMore);
for (const button of document.querySelectorAll("button.find"))
  button.addEventListener("click", () => points.find(Number(button.dataset.point)));

// The contents show which section is being read: the last one that begins in the upper part of the screen, and of two
// side by side the first.
const links = [...document.querySelectorAll("#contents a")];
const sections = links.map((link) => document.querySelector(link.hash));
const tellSection = () => {
  const tops = sections.map((section) => Math.round(section.getBoundingClientRect().top));
  const now = sections[Math.max(0, tops.indexOf(Math.max(...tops.filter((top) => top < innerHeight / 3))))];
  links.forEach((link, i) => {
    if (sections[i] === now) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  });
};
addEventListener("scroll", tellSection, { passive: true });
tellSection();
