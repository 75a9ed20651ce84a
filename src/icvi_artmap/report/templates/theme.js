"use strict";
// Light and dark: as the system has it, until the button is pressed.

const darkWanted = matchMedia("(prefers-color-scheme: dark)");
const isDark = () => {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : darkWanted.matches;
};

// `changed` is called when colours have changed: canvases are drawn anew.
function makeTheme(button, changed) {
  const root = document.documentElement;
  const setTheme = (theme) => {
    if (theme) root.dataset.theme = theme;
    else delete root.dataset.theme;
    button.textContent = isDark() ? "Light" : "Dark";
    button.setAttribute("aria-label", `switch to ${isDark() ? "light" : "dark"} colours`);
    changed();
  };
  button.hidden = false;
  button.addEventListener("click", () => setTheme(isDark() ? "light" : "dark"));
  darkWanted.addEventListener("change", () => setTheme(root.dataset.theme));

  // Paper is white. What was on the screen comes back after printing.
  let onScreen;
  addEventListener("beforeprint", () => {
    onScreen = root.dataset.theme;
    setTheme("light");
  });
  addEventListener("afterprint", () => setTheme(onScreen));
  setTheme(root.dataset.theme);
}
