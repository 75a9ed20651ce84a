"use strict";
// A map of rows: a canvas to look around in, with a legend that hides clusters.
//
// `element` holds the parts (map.html.j2), `data` is what icvi_artmap.report.points writes, and
// `chosen`, if given, is called with the place of a row that is clicked, or -1.
// Returns what can be done with the map from outside.

const MAP_MARGIN = { right: 14, top: 12, bottom: 44 };
const LEAST_LEFT = 44; // room for labels of the upward axis
const REACH = 14; // pixels from a point at which it is pointed at
const CLICK = 5; // a drag of fewer pixels is a click
const CLUSTER_AXIS = -1;

// Round numbers between low and high, about so many, with labels that tell them apart.
const roundTicks = (low, high, count) => {
  const raw = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].find((m) => m * power >= raw) * power;
  const found = [];
  for (let i = Math.ceil(low / step); i <= Math.floor(high / step); i++) found.push(i * step);
  const places = Math.max(0, Math.min(12, -Math.floor(Math.log10(step) + 1e-9)));
  const far = Math.max(Math.abs(low), Math.abs(high));
  const digits = Math.max(3, 1 + Math.floor(Math.log10(far)) - Math.floor(Math.log10(step)));
  const label = (v) => (far >= 1e6 || far < 1e-4 ? general(v, digits) : fixed(v, places));
  return found.map((v) => [v, label(Math.abs(v) < step / 2 ? 0 : v)]);
};

// A number in [-0.5, 0.5] that is the same for the same row every time.
const spread = (i) => {
  let h = Math.imul(i + 1, 2654435761);
  h = Math.imul(h ^ (h >>> 15), 2246822519);
  return ((h ^ (h >>> 13)) >>> 0) / 4294967296 - 0.5;
};

function makeMap(element, data, chosen = () => {}) {
  const part = (name) => element.querySelector(`.map-${name}`);
  const canvas = part("points");
  const plot = part("plot");
  const tip = part("tip");
  const pen = canvas.getContext("2d");
  const n = data.clusters.length;
  const radius = n > 3000 ? 2.2 : n > 800 ? 2.8 : 3.8;
  const state = { axes: data.start.slice(), view: null, hovered: -1, marked: -1, drag: null, left: LEAST_LEFT };

  // --- the rows and their clusters --------------------------------------------------------------

  let k, shown, members, noise, lanes;
  const isShown = (i) => data.clusters[i] < 0 || shown[data.clusters[i]];
  const deal = () => {
    k = data.colours.length;
    shown = new Array(k).fill(true);
    members = Array.from({ length: k }, () => []);
    noise = []; // rows of no cluster: -1
    data.clusters.forEach((c, i) => (c < 0 ? noise : members[c]).push(i));
    // Against the clusters, points spread within their lane.
    lanes = data.clusters.map((c, i) => c + 0.7 * spread(i));
  };
  const values = (axis) => (axis === CLUSTER_AXIS ? lanes : data.axes[axis].values);
  const axisName = (axis) => (axis === CLUSTER_AXIS ? "cluster" : data.axes[axis].name);

  // --- from values to pixels --------------------------------------------------------------------

  const range = (axis) => {
    if (axis === CLUSTER_AXIS) return [noise.length ? -1.6 : -0.6, k - 0.4];
    let low = Infinity;
    let high = -Infinity;
    for (const v of values(axis)) {
      if (v < low) low = v;
      if (v > high) high = v;
    }
    if (low === high) {
      const around = Math.abs(low) * 0.5 || 0.5;
      return [low - around, high + around];
    }
    const pad = 0.04 * (high - low);
    return [low - pad, high + pad];
  };
  let whole;
  const resetView = () => {
    whole = [...range(state.axes[0]), ...range(state.axes[1])];
    state.view = whole.slice();
  };
  const inside = () => ({
    left: state.left,
    top: MAP_MARGIN.top,
    width: Math.max(10, plot.clientWidth - state.left - MAP_MARGIN.right),
    height: Math.max(10, plot.clientHeight - MAP_MARGIN.top - MAP_MARGIN.bottom),
  });
  const toPixels = (box, x, y) => {
    const [x0, x1, y0, y1] = state.view;
    return [
      box.left + ((x - x0) / (x1 - x0)) * box.width,
      box.top + ((y1 - y) / (y1 - y0)) * box.height,
    ];
  };
  const toData = (box, px, py) => {
    const [x0, x1, y0, y1] = state.view;
    return [
      x0 + ((px - box.left) / box.width) * (x1 - x0),
      y1 - ((py - box.top) / box.height) * (y1 - y0),
    ];
  };

  // --- ticks ------------------------------------------------------------------------------------

  const clusterTicks = (low, high) => {
    const found = [];
    const each = Math.ceil((high - low) / 20);
    for (let c = Math.max(0, Math.ceil(low)); c <= Math.min(k - 1, high); c++)
      if (c % each === 0) found.push([c, String(c)]);
    return found;
  };
  const ticksOf = (which, low, high, count) =>
    state.axes[which] === CLUSTER_AXIS ? clusterTicks(low, high) : roundTicks(low, high, count);
  const widest = (ticks) => Math.max(0, ...ticks.map(([, label]) => pen.measureText(label).width));
  // As many across as there is room for, so that labels never touch.
  const ticksAcross = (box, low, high) => {
    for (let count = Math.max(1, Math.floor(box.width / 60)); ; count--) {
      const ticks = ticksOf(0, low, high, count);
      if (count <= 1 || ticks.length * (widest(ticks) + 16) <= box.width) return ticks;
    }
  };
  const fitted = (text, width) => {
    if (pen.measureText(text).width <= width) return text;
    let length = text.length;
    while (length > 1 && pen.measureText(text.slice(0, length) + "…").width > width) length--;
    return text.slice(0, length) + "…";
  };

  // --- centres of clusters, and components ------------------------------------------------------

  const centre = (cluster) => {
    const middle = (axis) => {
      const all = members[cluster].map((i) => values(axis)[i]).sort((a, b) => a - b);
      return (all[(all.length - 1) >> 1] + all[all.length >> 1]) / 2;
    };
    const [x, y] = [middle(state.axes[0]), middle(state.axes[1])];
    // The member nearest to the medians: it is in the cluster, wherever that bends.
    const xs = values(state.axes[0]);
    const ys = values(state.axes[1]);
    const away = (i) =>
      ((xs[i] - x) / (whole[1] - whole[0])) ** 2 + ((ys[i] - y) / (whole[3] - whole[2])) ** 2;
    const found = members[cluster].reduce((best, i) => (away(i) < away(best) ? i : best));
    return [xs[found], ys[found]];
  };
  let centres;
  const findCentres = () => {
    centres = members.map((own, c) => (own.length ? centre(c) : null));
  };

  // Ellipses of one deviation around the components that clusters were joined of.
  const drawPieces = (box) => {
    const [a, b] = state.axes;
    if (!data.pieces || a === CLUSTER_AXIS || b === CLUSTER_AXIS) return;
    const [x0, x1, y0, y1] = state.view;
    const [right, down] = [box.width / (x1 - x0), -box.height / (y1 - y0)];
    const at = (i, j) => (Math.max(i, j) * (Math.max(i, j) + 1)) / 2 + Math.min(i, j);
    data.pieces.clusters.forEach((c, i) => {
      if (!shown[c]) return;
      const covariance = data.pieces.spreads[i];
      const [xx, xy, yy] = [
        covariance[at(a, a)] * right * right,
        covariance[at(a, b)] * right * down,
        covariance[at(b, b)] * down * down,
      ];
      const [middle, apart] = [(xx + yy) / 2, Math.hypot((xx - yy) / 2, xy)];
      const [x, y] = toPixels(box, data.pieces.centres[i][a], data.pieces.centres[i][b]);
      pen.beginPath();
      const [long, short] = [middle + apart, middle - apart].map((v) => Math.sqrt(Math.max(v, 0)));
      pen.ellipse(x, y, long, short, Math.atan2(2 * xy, xx - yy) / 2, 0, 2 * Math.PI);
      pen.fillStyle = pen.strokeStyle = data.colours[c];
      pen.globalAlpha = 0.12;
      pen.fill();
      pen.globalAlpha = 0.5;
      pen.lineWidth = 1;
      pen.stroke();
      pen.globalAlpha = 1;
    });
  };

  // --- drawing ----------------------------------------------------------------------------------

  const drawAxes = (height, rule, soft) => {
    const [x0, x1, y0, y1] = state.view;
    const up = ticksOf(1, y0, y1, Math.max(1, inside().height / 70));
    state.left = Math.max(LEAST_LEFT, Math.ceil(widest(up)) + 30);
    const box = inside();
    pen.lineWidth = 1;
    pen.strokeStyle = rule;
    pen.fillStyle = soft;
    pen.textBaseline = "middle";
    pen.textAlign = "right";
    for (const [v, label] of up) {
      const y = toPixels(box, 0, v)[1];
      pen.beginPath();
      pen.moveTo(box.left, y);
      pen.lineTo(box.left + box.width, y);
      pen.stroke();
      pen.fillText(label, box.left - 6, y);
    }
    pen.textAlign = "center";
    for (const [v, label] of ticksAcross(box, x0, x1)) {
      const x = toPixels(box, v, 0)[0];
      pen.beginPath();
      pen.moveTo(x, box.top);
      pen.lineTo(x, box.top + box.height);
      pen.stroke();
      pen.fillText(label, x, box.top + box.height + 12);
    }
    pen.fillText(fitted(axisName(state.axes[0]), box.width), box.left + box.width / 2, height - 12);
    pen.save();
    pen.translate(12, box.top + box.height / 2);
    pen.rotate(-Math.PI / 2);
    pen.fillText(fitted(axisName(state.axes[1]), box.height), 0, 0);
    pen.restore();
  };
  const drawRows = (box, rows, fill, mark) => {
    const [xs, ys] = state.axes.map(values);
    pen.fillStyle = fill;
    pen.beginPath();
    for (const i of rows) {
      const [x, y] = toPixels(box, xs[i], ys[i]);
      if (x > box.left - 9 && x < box.left + box.width + 9 && y > box.top - 9 && y < box.top + box.height + 9)
        traceMark(pen, mark, x, y, radius);
    }
    pen.fill();
  };
  const drawRings = (box, ink) => {
    for (const i of [state.marked, state.hovered]) {
      if (i < 0 || !isShown(i)) continue;
      const [x, y] = toPixels(box, values(state.axes[0])[i], values(state.axes[1])[i]);
      pen.beginPath();
      pen.arc(x, y, radius + 5, 0, 2 * Math.PI);
      pen.lineWidth = 2;
      pen.strokeStyle = ink;
      pen.stroke();
    }
  };
  const drawNumbers = (box, font, panel, ink) => {
    pen.font = `700 14px ${font}`;
    pen.lineJoin = "round";
    for (let c = 0; c < k; c++) {
      if (!shown[c] || !centres[c]) continue;
      const [x, y] = toPixels(box, ...centres[c]);
      pen.lineWidth = 4;
      pen.strokeStyle = panel;
      pen.strokeText(String(c), x, y);
      pen.fillStyle = ink;
      pen.fillText(String(c), x, y);
    }
  };
  function draw() {
    const scale = window.devicePixelRatio || 1;
    const width = plot.clientWidth;
    const height = plot.clientHeight;
    if (!width || !height) return;
    const pixels = [Math.round(width * scale), Math.round(height * scale)];
    if (canvas.width !== pixels[0] || canvas.height !== pixels[1]) [canvas.width, canvas.height] = pixels;
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(name).trim();
    const [panel, ink, soft, rule] = ["--panel", "--ink", "--soft", "--rule"].map(colour);
    const font = getComputedStyle(document.body).fontFamily;
    pen.fillStyle = panel;
    pen.fillRect(0, 0, width, height);
    pen.font = `12px ${font}`;
    drawAxes(height, rule, soft);

    const box = inside();
    pen.save();
    pen.beginPath();
    pen.rect(box.left, box.top, box.width, box.height);
    pen.clip();
    drawPieces(box);
    drawRows(box, noise, soft, "o");
    for (let c = 0; c < k; c++) if (shown[c]) drawRows(box, members[c], data.colours[c], data.marks[c]);
    drawRings(box, ink);
    drawNumbers(box, font, panel, ink);
    if (state.drag && !state.drag.move) {
      const { from, to } = state.drag;
      pen.lineWidth = 1;
      pen.strokeStyle = ink;
      pen.setLineDash([4, 3]);
      pen.strokeRect(from[0], from[1], to[0] - from[0], to[1] - from[1]);
      pen.setLineDash([]);
    }
    pen.restore();
    canvas.dataset.view = state.view.join(" ");
    canvas.dataset.box = [box.left, box.top, box.width, box.height].join(" ");
  }

  // --- looking around ---------------------------------------------------------------------------

  const zoom = (factor, px, py) => {
    const box = inside();
    const [x, y] = toData(box, px, py);
    const [x0, x1, y0, y1] = state.view;
    let next = [x + (x0 - x) * factor, x + (x1 - x) * factor, y + (y0 - y) * factor, y + (y1 - y) * factor];
    const parts = [0, 2].map((i) => (next[i + 1] - next[i]) / (whole[i + 1] - whole[i]));
    if (Math.min(...parts) > 0.999) next = whole.slice();
    if (Math.min(...parts) < 1e-6) return;
    state.view = next;
    hideTip();
    draw();
  };
  const zoomMiddle = (factor) => {
    const box = inside();
    zoom(factor, box.left + box.width / 2, box.top + box.height / 2);
  };
  const shift = (right, up) => {
    const [x0, x1, y0, y1] = state.view;
    const [dx, dy] = [right * (x1 - x0), up * (y1 - y0)];
    state.view = [x0 + dx, x1 + dx, y0 + dy, y1 + dy];
    hideTip();
    draw();
  };
  const isWhole = () => state.view.every((v, i) => v === whole[i]);
  const showWhole = () => {
    resetView();
    hideTip();
    draw();
  };

  // --- pointing at a row ------------------------------------------------------------------------

  const place = (event) => {
    const at = canvas.getBoundingClientRect();
    return [event.clientX - at.left, event.clientY - at.top];
  };
  const nearest = (px, py) => {
    const box = inside();
    const xs = values(state.axes[0]);
    const ys = values(state.axes[1]);
    let best = -1;
    let least = REACH * REACH;
    for (let i = 0; i < n; i++) {
      if (!isShown(i)) continue;
      const [x, y] = toPixels(box, xs[i], ys[i]);
      const away = (x - px) ** 2 + (y - py) ** 2;
      if (away < least && x >= box.left && x <= box.left + box.width && y >= box.top && y <= box.top + box.height) {
        least = away;
        best = i;
      }
    }
    return best;
  };
  function hideTip() {
    tip.hidden = true;
    state.hovered = -1;
  }
  const showTip = (i) => {
    const cluster = data.clusters[i];
    const head = document.createElement("div");
    head.className = "tip-id";
    head.textContent = `Row ${data.ids[i]}`;
    const which = document.createElement("div");
    which.className = "chip";
    which.style.setProperty("--c", data.colours[cluster] ?? "var(--soft)");
    which.textContent = cluster < 0 ? "noise" : `cluster ${cluster}`;
    const table = document.createElement("table");
    const axes = state.axes.filter((axis) => axis >= data.components);
    for (const axis of new Set([...axes, ...(data.telling[cluster] ?? [])])) {
      const row = table.insertRow();
      row.insertCell().textContent = data.axes[axis].name;
      const cell = row.insertCell();
      cell.className = "n";
      cell.textContent = number(data.axes[axis].values[i], data.digits);
    }
    tip.replaceChildren(head, which, table);
    tip.hidden = false;
    const [x, y] = toPixels(inside(), values(state.axes[0])[i], values(state.axes[1])[i]);
    const left = x + 14 + tip.offsetWidth < plot.clientWidth ? x + 14 : x - 14 - tip.offsetWidth;
    const top = Math.min(y + 10, plot.clientHeight - tip.offsetHeight - 4);
    tip.style.left = `${Math.max(2, Math.min(left, plot.clientWidth - tip.offsetWidth - 4))}px`;
    tip.style.top = `${Math.max(2, top)}px`;
  };
  const pointAt = (i) => {
    if (i === state.hovered) return;
    state.hovered = i;
    if (i < 0) tip.hidden = true;
    else showTip(i);
    draw();
  };

  canvas.addEventListener("wheel", (event) => {
    const out = event.deltaY > 0;
    if (out && isWhole()) return; // nothing to zoom out of: the page scrolls
    event.preventDefault();
    zoom(out ? 1.25 : 0.8, ...place(event));
  }, { passive: false });
  canvas.addEventListener("pointerdown", (event) => {
    if (event.pointerType !== "mouse" || event.button !== 0) return;
    const from = place(event);
    state.drag = { from, to: from, last: from, move: event.shiftKey };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    const at = place(event);
    const drag = state.drag;
    if (!drag) {
      if (event.pointerType === "mouse") pointAt(nearest(...at));
      return;
    }
    drag.to = at;
    hideTip();
    if (drag.move) {
      const box = inside();
      shift((drag.last[0] - at[0]) / box.width, (at[1] - drag.last[1]) / box.height);
      drag.last = at;
    } else draw();
  });
  let dragged = false;
  const endDrag = () => {
    const drag = state.drag;
    state.drag = null;
    if (!drag) return;
    const [from, to] = [drag.from, drag.to];
    dragged = Math.max(Math.abs(to[0] - from[0]), Math.abs(to[1] - from[1])) > CLICK;
    if (!drag.move && Math.min(Math.abs(to[0] - from[0]), Math.abs(to[1] - from[1])) > CLICK) {
      const box = inside();
      const low = toData(box, Math.min(from[0], to[0]), Math.max(from[1], to[1]));
      const high = toData(box, Math.max(from[0], to[0]), Math.min(from[1], to[1]));
      state.view = [low[0], high[0], low[1], high[1]];
    }
    draw();
  };
  canvas.addEventListener("pointerup", endDrag);
  canvas.addEventListener("pointercancel", () => {
    state.drag = null;
    draw();
  });
  canvas.addEventListener("pointerleave", (event) => {
    if (event.pointerType === "mouse") pointAt(-1);
  });
  canvas.addEventListener("click", (event) => {
    const i = nearest(...place(event));
    pointAt(i);
    if (!dragged) chosen(i);
    dragged = false;
  });
  canvas.addEventListener("dblclick", showWhole);
  canvas.addEventListener("keydown", (event) => {
    const act = {
      "+": () => zoomMiddle(0.8), "=": () => zoomMiddle(0.8), "-": () => zoomMiddle(1.25), "0": showWhole,
      ArrowLeft: () => shift(-0.1, 0), ArrowRight: () => shift(0.1, 0),
      ArrowUp: () => shift(0, 0.1), ArrowDown: () => shift(0, -0.1), Escape: () => pointAt(-1),
    }[event.key];
    if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act();
  });
  part("zoom-in").addEventListener("click", () => zoomMiddle(0.7));
  part("zoom-out").addEventListener("click", () => zoomMiddle(1 / 0.7));
  part("zoom-whole").addEventListener("click", showWhole);

  // --- the choice of axes -----------------------------------------------------------------------

  const selects = [part("x"), part("y")];
  const view = part("view");
  const nameView = () => {
    const at = data.views.findIndex(({ axes }) => axes.every((axis, i) => axis === state.axes[i]));
    view.value = at;
    selects.forEach((select, which) => (select.value = state.axes[which]));
  };
  const setAxes = (axes) => {
    state.axes = axes;
    nameView();
    hideTip();
    resetView();
    findCentres();
    draw();
  };
  selects.forEach((select, which) => {
    select.replaceChildren();
    data.axes.forEach((axis, i) => select.add(new Option(axis.name, i)));
    select.add(new Option("cluster", CLUSTER_AXIS));
    select.onchange = () => setAxes(state.axes.map((axis, i) => (i === which ? Number(select.value) : axis)));
  });
  view.replaceChildren();
  data.views.forEach(({ name }, i) => view.add(new Option(name, i)));
  view.add(new Option("own choice", -1));
  view.closest("label").hidden = !data.views.length;
  view.onchange = () => {
    if (view.value >= 0) setAxes(data.views[view.value].axes.slice());
  };

  // --- the legend -------------------------------------------------------------------------------

  let buttons;
  const show = (clusters, visible) => {
    for (const c of clusters) shown[c] = visible;
    buttons.forEach((button, c) => button.setAttribute("aria-pressed", String(shown[c])));
    hideTip();
    draw();
  };
  const every = () => buttons.map((_, c) => c);
  const makeLegend = () => {
    buttons = data.colours.map((colour, c) => {
      const button = document.createElement("button");
      button.type = "button";
      button.dataset.cluster = c;
      const size = document.createElement("small");
      size.textContent = data.sizes[c].toLocaleString("en");
      const rows = data.sizes[c] === 1 ? "row" : "rows";
      button.setAttribute("aria-label", `cluster ${c}, ${size.textContent} ${rows}`);
      button.append(markPicture(data.marks[c], colour), String(c), size);
      button.addEventListener("click", () => show([c], !shown[c]));
      return button;
    });
    part("legend").replaceChildren(...buttons);
  };
  part("show-all").onclick = () => show(every(), true);
  part("show-none").onclick = () => show(every(), false);

  // --- from outside -----------------------------------------------------------------------------

  // Mark a row, and show it wherever the view is; -1 marks none.
  const mark = (i) => {
    state.marked = i;
    draw();
  };
  const find = (i) => {
    state.marked = i;
    resetView();
    show(data.clusters[i] < 0 ? [] : [data.clusters[i]], true);
    plot.scrollIntoView({ block: "center" });
    showTip(i);
  };
  // Other clusters of the same rows: `change` has clusters, sizes, colours, marks and the like.
  const setClusters = (change) => {
    Object.assign(data, change);
    deal();
    findCentres();
    makeLegend();
    show([], true);
  };

  element.hidden = false;
  deal();
  resetView();
  findCentres();
  makeLegend();
  nameView();
  show(every(), true);
  const watch = new ResizeObserver(() => {
    hideTip();
    draw();
  });
  watch.observe(plot);
  return { draw, mark, find, setClusters, end: () => watch.disconnect() };
}
