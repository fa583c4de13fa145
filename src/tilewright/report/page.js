"use strict";
const PAPER = { whole: 660, half: 320, height: 260 }; // pixels, of a printed page and of its plots
const LETTER = 6.9; // pixels, of a label beside a plot
const config = { displaylogo: false, displayModeBar: false };
const root = document.documentElement;
const source = document.getElementById("plots").textContent;
let plots = readPlots();

// Colours stand in the plots by their names in the style sheet, which differ with the scheme.
function readPlots() {
  const style = getComputedStyle(root);
  const value = (_, name) => style.getPropertyValue(name).trim();
  return JSON.parse(source.replace(/var\((--[a-z]+)\)/g, value));
}

// The beginning and the end of a name often tell it from others.
function shortened(name, most) {
  if (name.length <= most) return name;
  const end = Math.floor((most - 1) / 2);
  return name.slice(0, most - 1 - end) + "…" + name.slice(name.length - end);
}

// The layout for a place: at most half of it is for labels.
function layoutOf(plot, width, height) {
  const axis = { ...plot.layout.yaxis };
  if (axis.ticktext) {
    const most = Math.max(8, Math.floor(width / 2 / LETTER));
    axis.ticktext = axis.ticktext.map((name) => shortened(name, most));
  }
  return { ...plot.layout, yaxis: axis, width, height };
}

function draw(place) {
  const plot = plots[place.dataset.plot];
  if (!plot) return;
  const first = !place.dataset.drawn;
  let width = place.clientWidth, height = plot.layout.height;
  if (root.classList.contains("paper")) {
    const isHalf = place.closest("figure").matches(".pair > :not(:only-child)");
    width = isHalf ? PAPER.half : PAPER.whole;
    height = isHalf ? PAPER.height : height;
  }
  place.style.height = height + "px";
  Plotly.react(place, plot.data, layoutOf(plot, width, height), config);
  place.dataset.drawn = "yes";
  if (first && place.dataset.plot === "roofline") {
    place.on("plotly_click", (event) => {
      const key = event.points[0].customdata;
      if (key) location.hash = "task-" + key;
    });
  }
}

const all = [...document.querySelectorAll(".plot")];
const isClosed = (place) => place.closest("details:not([open])") !== null;

function drawOpen() {
  all.filter((place) => !isClosed(place)).forEach((place) => draw(place));
}

// What lies in a closed task is drawn when that is opened: a page may hold hundreds of plots.
document.querySelectorAll("details.task").forEach((task) => {
  task.addEventListener("toggle", () => {
    if (!task.open || root.classList.contains("paper")) return;
    task.querySelectorAll(".plot:not([data-drawn])").forEach((place) => draw(place));
  });
});

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
drawOpen();

let waiting = 0;
addEventListener("resize", () => {
  clearTimeout(waiting);
  waiting = setTimeout(() => root.classList.contains("paper") || drawOpen(), 150);
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  plots = readPlots();
  drawOpen();
});

// On paper every plot is drawn, dark on white and as wide as the paper.
addEventListener("beforeprint", () => {
  root.classList.add("paper");
  document.querySelectorAll("details.task:not([open])").forEach((task) => {
    task.dataset.closed = "";
    task.open = true;
  });
  plots = readPlots();
  all.forEach((place) => draw(place));
});
addEventListener("afterprint", () => {
  root.classList.remove("paper");
  document.querySelectorAll("details[data-closed]").forEach((task) => {
    delete task.dataset.closed;
    task.open = false;
    task.querySelectorAll(".plot").forEach((place) => {
      Plotly.purge(place);
      delete place.dataset.drawn;
    });
  });
  plots = readPlots();
  drawOpen();
});

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
