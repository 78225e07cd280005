"use strict";
// Steps are highlighted together in the list and in the chart; the state after the chosen one is shown below it.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const root = document.documentElement;

  const theme = document.getElementById("theme");
  const switchTheme = () => {
    const now = root.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
    root.dataset.theme = now === "dark" ? "light" : "dark";
  };
  theme.addEventListener("click", switchTheme);

  const make = (tag, text, name) => {
    const node = document.createElement(tag);
    if (text !== undefined) node.textContent = text;
    if (name) node.className = name;
    return node;
  };

  class Run {
    constructor(section, states) {
      this.section = section;
      this.states = states;
      this.chart = section.querySelector("svg.chart");
      this.items = [...section.querySelectorAll("li.step")];
      this.panel = section.querySelector(".state");
      this.chosen = 0;
      // Smaller than this it could not be read: then it is scrolled.
      this.chart.style.minWidth = `${0.7 * this.chart.viewBox.baseVal.width}px`;
      this.chart.style.maxWidth = `${1.15 * this.chart.viewBox.baseVal.width}px`;
      this.keepHeads(section.querySelector(".picture"), this.chart.querySelector("g.heads"));
      this.items.forEach((item, at) => item.addEventListener("click", () => this.choose(at + 1)));
      section.querySelectorAll("g.step").forEach((group) =>
        group.addEventListener("click", () => this.choose(Number(group.dataset.step))));
    }

    // Whose lane is whose stays in sight while the picture is scrolled.
    keepHeads(box, heads) {
      const area = heads.getBBox(), whole = this.chart.viewBox.baseVal;
      const paper = document.createElementNS("http://www.w3.org/2000/svg", "rect");
      paper.setAttribute("class", "paper");
      paper.setAttribute("width", whole.width);
      paper.setAttribute("height", area.y + area.height + 6);
      box.addEventListener("scroll", () => {
        const down = box.scrollTop * whole.height / this.chart.getBoundingClientRect().height;
        heads.setAttribute("transform", `translate(0 ${down})`);
        if (down > 0 && paper.parentNode === null) {
          heads.prepend(paper);
          this.chart.append(heads);  // in front of what passes beneath
        } else if (down === 0) paper.remove();
      });
    }

    choose(number, { toggle = true } = {}) {
      this.chosen = toggle && number === this.chosen ? 0 : Math.max(0, Math.min(number, this.items.length));
      const chosen = String(this.chosen);
      this.chart.classList.toggle("choosing", this.chosen > 0);
      for (const node of this.section.querySelectorAll(".step"))
        node.classList.toggle("chosen", node.dataset.step === chosen);
      for (const node of this.section.querySelectorAll(".flying"))
        node.classList.toggle("chosen", node.dataset.sent === chosen || node.dataset.ended === chosen);
      this.showState();
      if (this.chosen === 0) return;
      const item = this.items[this.chosen - 1];
      item.scrollIntoView({ block: "nearest" });
      item.focus({ preventScroll: true });
      const group = this.section.querySelector(`g.step[data-step="${chosen}"]`);
      if (group) this.reveal(group);
    }

    // Scroll the picture alone, never the page: the list is what the reader's eyes are on.
    reveal(group) {
      const box = this.section.querySelector(".picture");
      const inner = group.getBoundingClientRect(), outer = box.getBoundingClientRect();
      if (inner.top < outer.top || inner.bottom > outer.bottom)
        box.scrollTop += inner.top - outer.top - (outer.height - inner.height) / 2;
      if (inner.left < outer.left || inner.right > outer.right)
        box.scrollLeft += inner.left - outer.left - (outer.width - inner.width) / 2;
    }

    showState() {
      const state = this.states[this.chosen];
      this.panel.hidden = this.chosen === 0 || state === undefined;
      if (this.panel.hidden) return;
      const nodes = [make("h3", `after step ${this.chosen}`, "of")];
      for (const process of state.processes) {
        const card = make("div");
        card.append(make("h3", process.name + (process.crashed ? " (crashed)" : "")));
        const table = make("table");
        for (const [name, value, changed] of process.fields) {
          const row = make("tr", undefined, changed ? "changed" : "");
          row.append(make("th", name), make("td", value));
          table.append(row);
        }
        for (const message of process.pending) {
          const row = make("tr");
          row.append(make("th", "pending"), make("td", message));
          table.append(row);
        }
        card.append(table);
        nodes.push(card);
      }
      this.panel.replaceChildren(...nodes);
    }
  }

  const runs = [...document.querySelectorAll("section.run")].map((section, at) => new Run(section, data[at].states));
  let current = runs[0];
  document.addEventListener("focusin", (event) => {
    const section = event.target.closest && event.target.closest("section.run");
    if (section) current = runs.find((run) => run.section === section);
  });

  // On paper nothing can be opened.
  addEventListener("beforeprint", () => { for (const folded of document.querySelectorAll("details")) folded.open = true; });

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "t") return switchTheme();
    if (!current) return;
    const last = current.items.length;
    const moves = {
      j: current.chosen + 1, ArrowDown: current.chosen + 1,
      k: Math.max(1, current.chosen - 1), ArrowUp: Math.max(1, current.chosen - 1),
      Home: 1, End: last, Escape: 0,
    };
    if (event.key === "Enter" && event.target.dataset && event.target.dataset.step)
      current.choose(Number(event.target.dataset.step));
    else if (event.key === "s") current.panel.scrollIntoView({ block: "nearest" });
    else if (event.key in moves) {
      event.preventDefault();
      current.choose(Math.min(moves[event.key], last), { toggle: false });
    }
  });
})();
