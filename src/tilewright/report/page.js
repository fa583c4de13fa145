"use strict";
// Plots are drawn when they come into view or their task is opened: a page may hold hundreds.
const plots = JSON.parse(document.getElementById("plots").textContent);
const config = { responsive: true, displaylogo: false, displayModeBar: false };

function draw(place) {
  const plot = plots[place.dataset.plot];
  if (!plot || place.dataset.drawn) return;
  place.dataset.drawn = "yes";
  Plotly.newPlot(place, plot.data, plot.layout, config);
  if (place.dataset.plot === "roofline") {
    place.on("plotly_click", (event) => {
      const key = event.points[0].customdata;
      if (key) location.hash = "task-" + key;
    });
  }
}

const seen = new IntersectionObserver(
  (entries) => entries.filter((e) => e.isIntersecting).forEach((e) => draw(e.target)),
  { rootMargin: "400px" },
);
document.querySelectorAll(".plot").forEach((place) => seen.observe(place));

// A link to a task opens it.
function openNamed() {
  const named = location.hash ? document.getElementById(location.hash.slice(1)) : null;
  if (named instanceof HTMLDetailsElement) {
    named.open = true;
    named.scrollIntoView();
  }
}
addEventListener("hashchange", openNamed);
openNamed();

// A click on a heading sorts its table by that column, another one turns it round.
function valueOf(row, column) {
  const cell = row.cells[column];
  const text = cell.dataset.value ?? cell.textContent.trim();
  const number = parseFloat(text);
  return Number.isNaN(number) ? text : number;
}

function compare(a, b) {
  if (typeof a === "number" && typeof b === "number") return a - b;
  if (typeof a === typeof b) return a.localeCompare(b);
  return typeof a === "number" ? -1 : 1;
}

document.querySelectorAll(".sortable th").forEach((heading) => {
  heading.addEventListener("click", () => {
    const table = heading.closest("table");
    const order = heading.dataset.order === "1" ? -1 : 1;
    table.querySelectorAll("th").forEach((other) => delete other.dataset.order);
    heading.dataset.order = String(order);
    const column = heading.cellIndex;
    const rows = [...table.tBodies[0].rows];
    rows.sort((a, b) => order * compare(valueOf(a, column), valueOf(b, column)));
    table.tBodies[0].append(...rows);
  });
});
