"use strict";
// The workbench: a file, a form, and up to two results.

const POLL = 300; // milliseconds between two looks at fits that run
const MIB = 2 ** 20;
const byId = (id) => document.getElementById(id);
const results = { a: new Result("a"), b: new Result("b") };
const each = Object.values(results);

// --- the file -----------------------------------------------------------------------------------

const fileStatus = (message, wrong = false) => {
  byId("file-status").textContent = message;
  byId("file-status").classList.toggle("message", wrong);
};
const showFile = (file) => {
  fileStatus(`${file.name}: ${file.rows.toLocaleString("en")} ${file.rows === 1 ? "row" : "rows"}.`);
  showColumns(file);
  byId("columns").hidden = byId("settings").hidden = false;
};
const upload = async (file) => {
  const most = Number(byId("file").dataset.most);
  if (file.size > most) {
    fileStatus(`${file.name} is larger than ${most / MIB} MiB, which is allowed. Start the workbench with its path, or with a larger --max-upload.`, true);
    return;
  }
  fileStatus(`reading ${file.name} …`);
  try {
    const found = await send(`api/file?name=${encodeURIComponent(file.name)}`, file);
    for (const result of each) result.hide();
    showFile(found);
    tellBoth();
  } catch (error) {
    fileStatus(error.message, true);
  }
};
byId("file").addEventListener("change", ({ target }) => {
  if (target.files.length) upload(target.files[0]);
  target.value = ""; // so that the same file can be chosen again
});
for (const kind of ["dragover", "dragleave", "drop"])
  addEventListener(kind, (event) => {
    event.preventDefault();
    byId("data").classList.toggle("drop", kind === "dragover");
    if (kind === "drop" && event.dataTransfer.files.length) upload(event.dataTransfer.files[0]);
  });

// --- fits ---------------------------------------------------------------------------------------

const settings = () => {
  const typed = byId("n-clusters").value.trim().toLowerCase();
  return {
    columns: usedColumns(),
    n_clusters: /^\d+$/.test(typed) ? Number(typed) : typed || "auto",
    index: byId("index").value,
    shape: byId("shape").value,
    missing: byId("missing").value,
    transform_columns: byId("transform").value,
    noise: byId("noise").checked,
    seed: Number(byId("seed").value),
    id_column: byId("id-column").value,
    label_column: byId("label-column").value,
  };
};
const run = async (slot, asked) => {
  byId("form-message").textContent = "";
  try {
    await tell(`api/${slot}/fit`, asked);
  } catch (error) {
    byId("form-message").textContent = error.message;
    return;
  }
  results[slot].empty();
  results[slot].showRunning({});
  tellBoth();
  results[slot].section.scrollIntoView({ block: "nearest" });
  watch();
};
byId("form").addEventListener("submit", (event) => {
  event.preventDefault();
  run("a", settings());
});
byId("run-beside").addEventListener("click", () => run("b", settings()));
for (const result of each) {
  // Another number of clusters, and all else as it was.
  result.keep = (k) => run(result.slot, { ...result.content.asked, n_clusters: k });
  result.part(".stop").addEventListener("click", () => tell(`api/${result.slot}/stop`));
  result.part(".remove").addEventListener("click", async () => {
    await tell(`api/${result.slot}/clear`);
    result.hide();
    tellBoth();
  });
}

// Look at what is running until nothing is.
let watching = false;
const watch = async () => {
  if (watching) return;
  watching = true;
  try {
    for (let running = true; running; ) {
      const states = await ask("api/status");
      running = false;
      for (const [slot, { state, message, progress }] of Object.entries(states)) {
        const result = results[slot];
        if (state === "running") {
          running = true;
          result.showRunning(progress);
        } else if (state === "failed") result.showMessage(message);
        else if (!result.content) {
          result.show(await ask(`api/${slot}/result`));
          tellBoth();
        }
      }
      if (running) await new Promise((again) => setTimeout(again, POLL));
    }
  } catch (error) {
    byId("form-message").textContent = error.message;
  }
  watching = false;
};

// --- side by side -------------------------------------------------------------------------------

const largest = ({ clusters }) => clusters.reduce((most, one) => (one.rows > most.rows ? one : most)).share;
const compared = ([a, b]) => [
  ["settings", a.settings.join(", "), b.settings.join(", ")],
  ["clusters", a.n_clusters, b.n_clusters],
  ["index", `${a.index} ${a.index_value}`, `${b.index} ${b.index_value}`],
  ["largest cluster", largest(a), largest(b)],
  ["noise", a.noise, b.noise],
  ["seconds", a.seconds, b.seconds],
];
const tellBoth = async () => {
  const { a, b } = results;
  byId("results").classList.toggle("two", !a.section.hidden && !b.section.hidden);
  byId("run-beside").hidden = !a.content;
  const both = Boolean(a.content && b.content);
  byId("comparison").hidden = !both;
  if (!both) return;
  byId("comparison-table").tBodies[0].replaceChildren(...compared([a.content, b.content]).map(([name, ...cells]) => {
    const row = document.createElement("tr");
    const head = text("th", name);
    head.scope = "row";
    row.append(head, ...cells.map((cell) => text("td", cell)));
    return row;
  }));
  byId("agreement").textContent = "comparing …";
  try {
    const { rows, agreement } = await ask("api/compare");
    byId("agreement").textContent = agreement === null
      ? "No row is in a cluster of both."
      : `Agreement of the two: ${fixed(agreement, 2)} on ${rows.toLocaleString("en")} rows (adjusted Rand index: 1 is the same, 0 is chance).`;
  } catch (error) {
    byId("agreement").textContent = error.message;
  }
};

// --- begin --------------------------------------------------------------------------------------

makeTheme(byId("theme"), () => each.forEach((result) => result.map?.draw()));
document.querySelectorAll(".scroll").forEach(showMore);
ask("api/file").then((file) => {
  if (!file) return;
  showFile(file);
  watch();
}, (error) => fileStatus(error.message, true));
