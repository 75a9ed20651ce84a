"use strict";
// A result: its map, the numbers of clusters that were tried, its clusters, and downloads.

const text = (tag, content, name = "") => {
  const made = document.createElement(tag);
  made.textContent = content;
  made.className = name;
  return made;
};

// One result in its section.
class Result {
  constructor(slot) {
    this.slot = slot;
    this.keep = () => {}; // asks for a fit with so many clusters
    this.section = document.getElementById(`result-${slot}`);
    this.content = null;
  }

  part(selector) {
    return this.section.querySelector(selector);
  }

  // Nothing but what is going on.
  showRunning({ text: doing, done, total }) {
    this.section.hidden = false;
    this.part(".running").hidden = false;
    this.part(".message").textContent = "";
    const bar = this.part("progress");
    if (total) [bar.max, bar.value] = [total, Math.min(done, total)];
    else bar.removeAttribute("value");
    this.part(".doing").textContent = doing || "starting";
  }

  showMessage(message) {
    this.section.hidden = false;
    this.part(".running").hidden = true;
    this.part(".message").textContent = message;
  }

  empty() {
    this.map?.end();
    this.map = this.content = null;
    this.part(".shown").replaceChildren();
    this.part(".told").textContent = "";
    this.part(".message").textContent = "";
  }

  hide() {
    this.empty();
    this.section.hidden = true;
  }

  show(content) {
    this.empty();
    this.content = content;
    this.section.hidden = false;
    this.part(".running").hidden = true;
    this.part(".told").textContent = `${content.settings.join(", ")}; ${content.seconds} s`;
    const template = document.getElementById(`shown-${this.slot}`);
    this.part(".shown").replaceChildren(template.content.cloneNode(true));
    this.showFigures();
    this.showClusters();
    const { map } = content;
    this.fitted = { clusters: map.clusters, sizes: map.sizes, colours: map.colours, marks: map.marks, telling: map.telling, pieces: map.pieces };
    this.map = makeMap(this.part(".map"), map, (i) => this.explainPoint(i));
    if (content.path) this.showPath();
    this.part(".ask").addEventListener("submit", (event) => {
      event.preventDefault();
      this.explain(`name=${encodeURIComponent(this.part(".row-name").value)}`);
    });
    for (const button of this.section.querySelectorAll(".downloads button"))
      button.addEventListener("click", () => this.download(button));
    makeSortable(this.part(".cluster-list"));
    this.section.querySelectorAll(".scroll").forEach(showMore);
  }

  showFigures() {
    const { rows, columns: used, n_clusters: k, index, index_value: value, better, noise } = this.content;
    const figures = [["rows", rows.toLocaleString("en")], ["columns", used], ["clusters", k], [`${index} (${better} is better)`, value]];
    if (noise) figures.push(["noise", noise.toLocaleString("en")]);
    this.part(".figures").replaceChildren(...figures.map(([name, figure]) => {
      const pair = document.createElement("div");
      pair.append(text("dt", name), text("dd", figure));
      return pair;
    }));
    this.part(".readings").replaceChildren(...this.content.readings.map((told) => text("li", told.text, told.tone)));
    this.part(".notes").hidden = !this.content.notes.length;
    this.part(".notes ul").replaceChildren(...this.content.notes.map((note) => text("li", note)));
  }

  showClusters() {
    this.part(".cluster-list tbody").replaceChildren(...this.content.clusters.map((cluster, i) => {
      const row = document.createElement("tr");
      const name = text("th", "");
      name.scope = "row";
      name.dataset.value = i;
      const chip = text("span", i, "chip");
      chip.style.setProperty("--c", this.content.map.colours[i]);
      name.append(chip);
      row.append(name);
      for (const [what, value] of [[cluster.rows.toLocaleString("en"), cluster.rows], [cluster.share, cluster.rows]]) {
        const cell = text("td", what, "n");
        cell.dataset.value = value;
        row.append(cell);
      }
      row.append(text("td", cluster.text, "words"));
      return row;
    }));
  }

  // --- the numbers of clusters that were tried --------------------------------------------------

  showPath() {
    const { path } = this.content;
    this.part(".path").hidden = false;
    const range = this.part(".path-range");
    range.max = path.k.length - 1;
    range.value = path.k.indexOf(path.chosen);
    range.addEventListener("input", () => this.moveTo(path.k[range.value]));
    this.part(".path-keep").addEventListener("click", () => this.keep(path.k[range.value]));
    // Made by the report's own template, in which all text is escaped.
    this.part(".chart-place").innerHTML = path.chart;
    this.tellPath(path.chosen);
  }

  tellPath(k) {
    const { path } = this.content;
    const fitted = k === path.chosen;
    this.part(".path-k").value = k;
    this.part(".path-range").setAttribute("aria-valuetext", `${k} clusters`);
    const value = `${path.rule}: ${path.criterion[path.k.indexOf(k)]}`;
    this.part(".path-told").textContent = fitted
      ? `${value}, the least: this number was chosen, and the map shows the fit.`
      : `${value}. The map shows what was found on the way; fit ${k} clusters to explain and keep them.`;
    this.part(".path-keep").hidden = fitted;
    this.part(".path-keep").textContent = `Fit ${k} clusters`;
  }

  moveTo(k) {
    const fitted = k === this.content.path.chosen;
    this.map.setClusters(fitted ? this.fitted : { ...this.content.path.partitions[k], telling: [], pieces: null });
    this.tellPath(k);
  }

  // --- a row ------------------------------------------------------------------------------------

  explainPoint(i) {
    if (i >= 0) this.explain(`at=${this.content.drawn[i]}`);
  }

  async explain(which) {
    const place = this.part(".explanation");
    place.classList.remove("wrong");
    try {
      const found = await ask(`api/${this.slot}/row?${which}`);
      const where = found.cluster < 0 ? "in no cluster" : `in cluster ${found.cluster}`;
      place.textContent = `Row ${found.name} is ${where}.\n${found.text}`;
      this.part(".row-name").value = found.name;
      this.map.mark(this.content.drawn.indexOf(found.row));
    } catch (error) {
      place.classList.add("wrong");
      place.textContent = error.message;
    }
  }

  // --- downloads --------------------------------------------------------------------------------

  async download(button) {
    const status = this.part(".download-status");
    button.disabled = true;
    status.textContent = button.dataset.what === "report" ? "writing the report …" : "writing …";
    try {
      status.textContent = `${await save(`api/${this.slot}/download/${button.dataset.what}`)} is saved.`;
    } catch (error) {
      status.textContent = error.message;
    }
    button.disabled = false;
  }
}
