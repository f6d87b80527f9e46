// theme: light or dark as the system has it, or as was chosen here; before the page is drawn.
"use strict";
try {
  const chosen = localStorage.getItem("zonemark-theme");
  if (chosen === "light" || chosen === "dark")
    document.documentElement.dataset.theme = chosen;
} catch {
  // A browser may refuse to remember; the system's choice holds.
}
