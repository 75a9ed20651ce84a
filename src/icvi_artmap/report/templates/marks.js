"use strict";
// The marks of clusters: corners for a radius of 1; a circle has none. The names are matplotlib's.

const STAR = Array.from({ length: 10 }, (_, i) => {
  const r = i % 2 ? 0.65 : 1.5;
  return [r * Math.sin((Math.PI * i) / 5), -r * Math.cos((Math.PI * i) / 5)];
});
const cross = (a, b) => [
  [-a, -b], [a, -b], [a, -a], [b, -a], [b, a], [a, a], [a, b], [-a, b], [-a, a], [-b, a], [-b, -a], [-a, -a],
];
const turned = (corners) => corners.map(([x, y]) => [(x - y) * Math.SQRT1_2, (x + y) * Math.SQRT1_2]);
const CORNERS = {
  o: null,
  s: [[-0.9, -0.9], [0.9, -0.9], [0.9, 0.9], [-0.9, 0.9]],
  "^": [[0, -1.25], [1.15, 0.85], [-1.15, 0.85]],
  D: [[0, -1.35], [1.35, 0], [0, 1.35], [-1.35, 0]],
  v: [[0, 1.25], [1.15, -0.85], [-1.15, -0.85]],
  P: cross(0.45, 1.25),
  X: turned(cross(0.45, 1.25)),
  "*": STAR,
};

const traceMark = (pen, mark, x, y, r) => {
  const corners = CORNERS[mark];
  if (corners) {
    corners.forEach(([a, b], i) =>
      i ? pen.lineTo(x + a * r, y + b * r) : pen.moveTo(x + a * r, y + b * r));
    pen.closePath();
  } else {
    pen.moveTo(x + r, y);
    pen.arc(x, y, r, 0, 2 * Math.PI);
  }
};

const markPicture = (mark, colour) => {
  const SVG = "http://www.w3.org/2000/svg";
  const corners = CORNERS[mark];
  const shape = document.createElementNS(SVG, corners ? "polygon" : "circle");
  if (corners) shape.setAttribute("points", corners.map(([a, b]) => `${4.4 * a},${4.4 * b}`).join(" "));
  else shape.setAttribute("r", "5");
  shape.setAttribute("fill", colour);
  const picture = document.createElementNS(SVG, "svg");
  picture.setAttribute("viewBox", "-6 -6 12 12");
  picture.setAttribute("aria-hidden", "true");
  picture.append(shape);
  return picture;
};
