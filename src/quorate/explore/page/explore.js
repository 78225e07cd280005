"use strict";
// The page keeps no state but the position, which is the fragment of its address: going back is the browser's back, and
// a link is the address. Everything it shows is text that the server made.
(() => {
  const $ = (id) => document.getElementById(id);
  const root = document.documentElement;
  let here = null;      // the position that is shown
  let chosen = 0;       // the step that the keys are at
  let finds = [];
  let offers = [];      // what can be searched for by name
  let along = null;     // the run that `n` and `p` go along
  let graph = null;
  let initials = 1;
  let asked = 0;        // answers to older questions are dropped
  let busy = true;      // a position was asked for and is not shown yet
  const typed = [];     // what was typed meanwhile: it is meant for that position

  const make = (tag, text, name) => {
    const node = document.createElement(tag);
    if (text !== undefined) node.textContent = text;
    if (name) node.className = name;
    return node;
  };

  // Lines end behind spaces, commas and opening brackets, not between a field and its value.
  const words = (node, text) => {
    text.split(/(?<=[\s,([{])/).forEach((word, at) => node.append(...(at ? [make("wbr"), word] : [word])));
    return node;
  };

  const ask = async (route) => {
    const answer = await fetch(route);
    const content = await answer.json();
    if (!answer.ok) throw new Error(content.error || answer.statusText);
    return content;
  };

  const pathOf = () => location.hash.slice(1) || "0";
  const go = (path) => {
    const to = path.join(".");
    if (to === pathOf()) return;
    busy = true;
    location.hash = to;
  };
  const same = (one, two) => one.length === two.length && one.every((item, at) => item === two[at]);
  const within = (start, path) => start.length <= path.length && start.every((item, at) => item === path[at]);

  async function show() {
    const number = ++asked, path = pathOf();
    busy = true;
    try {
      const position = await ask(`api/at?path=${encodeURIComponent(path)}`);
      if (number !== asked) return;
      here = position;
      chosen = Math.max(0, nextAlong());
      draw();
      askReductions(number, path);
      settle();
      const chart = await ask(`api/chart?path=${encodeURIComponent(path)}`);
      if (number !== asked) return;
      drawChart(chart.svg);
    } catch (error) {
      if (number !== asked) return;
      $("where").replaceChildren(make("p", String(error.message), "bad"), make("p", "Go to the start: press Home."));
      settle();
    }
  }

  // A key that was typed before a position was shown counts from there on.
  function settle() {
    busy = false;
    while (typed.length && !busy) typed.shift()();
  }

  // They are prepared beside the server, and that may take a while.
  async function askReductions(number, path) {
    const answer = await ask(`api/reductions?path=${encodeURIComponent(path)}`);
    if (number !== asked) return;
    if (answer.status === "asking") setTimeout(() => { if (number === asked) askReductions(number, path); }, 150);
    drawReductions(answer);
  }

  function drawReductions({ status, reductions, error }) {
    if (error) $("where").append(make("p", error, "bad"));
    for (const line of $("steps").querySelectorAll(".skipped")) line.remove();
    const words = { "quotient": "quotient", "dead-messages": "dead messages", "por": "partial order", "symmetry": "symmetry" };
    $("reductions").dataset.status = status;
    $("reductions").replaceChildren(...(reductions.length ? reductions.map((each) => {
      const name = words[each.name] || each.name, all = here.steps.length;
      for (const [at, why] of Object.entries(each.others)) {
        const line = make("p", `${name}: ${why}`, "skipped");
        line.dataset.reduction = each.name;
        $("steps").children[at].append(line);
      }
      const entry = make("div");
      entry.dataset.reduction = each.name;
      const told = !each.runs ? "does not run" : each.takes.length === all ? "takes all" : `takes ${each.takes.length} of ${all}`;
      entry.append(make("b", name), make("span", ` ${told}`, each.runs && each.takes.length < all ? "good" : "faint"), make("p", each.why, "faint"));
      return entry;
    }) : [make("p", status === "asking" ? "being prepared …" : "not available here", "faint")]));
  }

  function draw() {
    document.body.dataset.path = here.path.join(".");
    document.body.dataset.depth = here.depth;
    $("here").href = `#${here.path.join(".")}`;
    $("back").disabled = here.path.length < 2;
    $("where").replaceChildren(make("p", here.depth === 0 ? "at the start" : `after ${here.depth} step${here.depth > 1 ? "s" : ""}`, "faint"));
    if (here.depth === 0 && initials > 1) {
      const line = make("p", `initial state ${here.path[0] + 1} of ${initials} `);
      for (const [word, to] of [["before", here.path[0] - 1], ["next", here.path[0] + 1]]) {
        if (to < 0 || to >= initials) continue;
        const link = make("a", word, "initial");
        link.href = `#${to}`;
        line.append(link, " ");
      }
      $("where").append(line);
    }
    if (here.failed) {
      const { text, file, line } = here.failed;
      $("where").append(make("p", `fails: ${text}`, "bad"), make("p", file ? `at ${file}:${line}` : "", "faint"));
    }
    drawSteps();
    drawVerdicts();
    drawState();
    drawWay();
    drawFinds();
    markMap();
  }

  function drawSteps() {
    $("steps").replaceChildren(...here.steps.map((step) => {
      const item = make("li");
      if (step.breaks.length || step.fails) item.classList.add("breaks");
      else if (!["step", "discard", "deliver"].includes(step.kind)) item.classList.add("fault");
      item.dataset.number = step.number;
      const head = make("p");
      head.append(make("span", step.number + 1, "number"), make("span", step.process, "process"), make("span", step.name, "name"));
      item.append(head);
      for (const text of step.consumed) item.append(words(make("p"), `← ${text}`));
      if (step.choices.length) item.append(make("p", `chooses ${step.choices.join(", ")}`, "faint"));
      for (const text of step.changes) item.append(words(make("p", undefined, "change"), text));
      for (const text of step.sends) item.append(words(make("p"), `→ ${text}`));
      for (const text of step.events) item.append(make("p", text, "faint"));
      for (const name of step.breaks) item.append(make("p", `✗ ${name} fails then`, "bad"));
      if (step.fails) item.append(make("p", `✗ fails: ${step.fails}`, "bad"));
      item.addEventListener("click", () => go([...here.path, step.number]));
      return item;
    }));
    if (!here.steps.length && !here.failed) $("steps").append(make("li", "nothing", "faint"));
    filterSteps();
  }

  const fits = (node, input) => node.textContent.toLowerCase().includes(input.value.trim().toLowerCase());

  // A step or a field that does not fit is out of sight, and the keys pass over it.
  function filterSteps() {
    for (const item of $("steps").children) item.hidden = !fits(item, $("filter-steps"));
    $("steps").classList.toggle("filtered-out", [...$("steps").children].every((item) => item.hidden));
    if (here && here.steps.length && $("steps").children[chosen].hidden) {
      const first = [...$("steps").children].findIndex((item) => !item.hidden);
      if (first >= 0) chosen = first;
    }
    markChosen();
  }

  function filterFields() {
    for (const card of $("state").children)
      for (const name of card.querySelectorAll("dt"))
        name.hidden = name.nextSibling.hidden = !fits(name, $("filter-fields"));
  }

  function markChosen() {
    const next = nextAlong();
    [...$("steps").children].forEach((item, at) => {
      item.classList.toggle("chosen", at === chosen && here.steps.length > 0);
      item.classList.toggle("next", at === next);
    });
  }

  function drawVerdicts() {
    $("verdicts").replaceChildren(...here.properties.map((each) => {
      const mark = each.bad ? "✗" : each.kind === "can" && each.value !== "true" ? "·" : "✓";
      const tone = each.bad ? "bad is-bad" : mark === "·" ? "faint" : "good";
      return make("span", `${mark} ${each.name}${each.kind === "deadlock" ? `: ${each.value}` : ""}`, tone);
    }));
    $("why").replaceChildren(...here.properties.filter((each) => each.why.length).map((each) => {
      const box = make("pre", each.why.join("\n"));
      box.dataset.property = each.name;
      return box;
    }));
    const singular = { losses: "loss", duplicates: "duplicate", crashes: "crash" };
    const left = Object.entries(here.budget).map(([name, number]) => `${number} ${number > 1 ? name : singular[name]} left`);
    if (left.length) $("verdicts").append(make("span", left.join(", "), "fault"));
  }

  function drawState() {
    $("state").replaceChildren(...here.processes.map((process) => {
      const card = make("div", undefined, "process-card");
      card.dataset.process = process.name;
      card.classList.toggle("crashed", process.crashed);
      card.classList.toggle("byzantine", process.byzantine);
      card.classList.toggle("moved", process.fields.some((field) => field.changed));
      const title = make("h3", process.name);
      const what = process.crashed ? "crashed" : process.byzantine ? "Byzantine" : process.monitor ? "monitor" : process.role;
      title.append(make("span", what));
      const list = make("dl");
      for (const field of process.fields)
        list.append(make("dt", field.name), words(make("dd", undefined, field.changed ? "value changed" : "value"), field.value));
      card.append(title, list);
      if (process.constants.length) card.append(drawConstants(process));
      if (process.pending.length) {
        const pending = make("div", undefined, "pending");
        for (const message of process.pending)
          pending.append(words(make("p", undefined, message.new ? "new" : ""), `${message.text} from ${message.from}`));
        card.append(pending);
      }
      return card;
    }));
    filterFields();
  }

  // What never changes is folded away; what a reader unfolds stays unfolded at the next position.
  const unfolded = new Set();
  function drawConstants(process) {
    const box = make("details", undefined, "constants");
    box.open = unfolded.has(process.name);
    box.addEventListener("toggle", () => { if (box.open) unfolded.add(process.name); else unfolded.delete(process.name); });
    const list = make("dl");
    for (const field of process.constants)
      list.append(make("dt", field.name), words(make("dd", undefined, "value"), field.value));
    box.append(make("summary", `${process.constants.length} constant${process.constants.length > 1 ? "s" : ""}`), list);
    return box;
  }

  // The server's own drawing, parsed as SVG: markup in it would come out as an error, not as elements of this page.
  function drawChart(source) {
    const box = $("chart");
    box.replaceChildren();
    if (!source) return;
    const picture = new DOMParser().parseFromString(source, "image/svg+xml").documentElement;
    if (picture.nodeName !== "svg") return;
    box.append(document.importNode(picture, true));
    const chart = box.firstElementChild;
    chart.style.minWidth = `${0.7 * chart.viewBox.baseVal.width}px`;
    chart.style.maxWidth = `${chart.viewBox.baseVal.width}px`;
    for (const group of chart.querySelectorAll("g.step"))
      group.addEventListener("click", () => go(here.path.slice(0, Number(group.dataset.step) + 1)));
    keepHeads(box, chart, chart.querySelector("g.heads"));
    box.scrollTop = box.scrollHeight;
  }

  // Whose lane is whose stays in sight while the picture is scrolled.
  function keepHeads(box, chart, heads) {
    if (!heads) return;
    const area = heads.getBBox(), whole = chart.viewBox.baseVal;
    const paper = document.createElementNS("http://www.w3.org/2000/svg", "rect");
    paper.setAttribute("class", "paper");
    paper.setAttribute("width", whole.width);
    paper.setAttribute("height", area.y + area.height + 6);
    box.onscroll = () => {
      const down = box.scrollTop * whole.height / chart.getBoundingClientRect().height;
      heads.setAttribute("transform", `translate(0 ${down})`);
      if (down > 0 && paper.parentNode === null) {
        heads.prepend(paper);
        chart.append(heads);  // in front of what passes beneath
      } else if (down === 0) paper.remove();
    };
  }

  // Of a run without an end, at its last step: where those begin that come again and again.
  const loopFrom = () => {
    const lasso = finds.find((find) => find.path && find.loop_from !== null && same(find.path, here.path));
    return lasso ? lasso.loop_from : here.path.length;
  };

  function drawWay() {
    const loop = loopFrom();
    $("way").replaceChildren(...here.way.map((leg, at) => {
      const item = make("li", undefined, at > loop ? "again" : undefined);
      if (at === loop + 1) item.append(make("p", "from here on, again and again", "loop"));
      const link = make("a", at === 0 ? leg.text : `${at} ${leg.text}`);
      link.href = `#${here.path.slice(0, at + 1).join(".")}`;
      item.append(link);
      return item;
    }));
    $("way").scrollTop = $("way").scrollHeight;
  }

  // --- runs that were found ------------------------------------------------------------------------------------

  async function poll() {
    ({ finds, offers } = await ask("api/finds"));
    if (along === null) along = (finds.find((find) => find.path) || {}).path || null;
    drawFinds();
    if (here) { if (chosen === 0) chosen = Math.max(0, nextAlong()); markChosen(); drawWay(); }
    if (finds.some((find) => find.status === "searching")) setTimeout(poll, 400);
  }

  const nextAlong = () =>
    along && here && within(here.path, along) && here.path.length < along.length ? along[here.path.length] : -1;

  function drawFinds() {
    const words = {
      searching: "searching …", none: "there is none", stopped: "not found in time", open: "not decided", without: "no single run shows it", failed: "could not be searched for",
    };
    $("finds").replaceChildren(...finds.map((find) => {
      const entry = make("div");
      entry.dataset.kind = find.kind;
      entry.dataset.status = find.status;
      entry.append(make("code", find.text), make("span", ` ${words[find.status] || ""}`, "faint"));
      if (find.note && find.status !== "searching") entry.append(make("span", ` (${find.note})`, "faint"));
      if (!find.path) return entry;
      const row = make("div", undefined, "along");
      const slider = make("input");
      slider.type = "range";
      slider.min = 1;
      slider.max = find.path.length;
      slider.value = here && within(here.path, find.path) ? here.path.length : 1;
      slider.setAttribute("aria-label", "along this run");
      slider.addEventListener("input", () => { along = find.path; go(find.path.slice(0, Number(slider.value))); });
      const link = make("a", `step ${find.path.length - 1}`);
      link.href = `#${find.path.join(".")}`;
      link.addEventListener("click", () => { along = find.path; });
      row.append(slider, link);
      entry.append(row);
      if (find.loop_from !== null && find.loop_from < find.path.length - 1)
        entry.append(make("p", `from step ${find.loop_from + 1} on again and again`, "faint"));
      return entry;
    }));
    const open = offers.filter((name) => finds.every((find) => find.text !== name));
    $("offers").replaceChildren(...open.map((name) => {
      const button = make("button", name);
      button.type = "button";
      button.title = `search for a state where this is true: ${name}`;
      button.addEventListener("click", () => lookFor(name));
      return button;
    }));
  }

  // By its name: the server knows which names there are, and evaluates nothing that it is sent.
  async function lookFor(name) {
    ({ finds, offers } = await ask(`api/find?name=${encodeURIComponent(name)}`));
    drawFinds();
    poll();
  }

  // --- the map -------------------------------------------------------------------------------------------------

  const SVG = "http://www.w3.org/2000/svg";
  const svg = (tag, attributes) => {
    const node = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    return node;
  };

  async function loadMap() {
    const answer = await ask("api/graph");
    if (answer.status === "searching") { setTimeout(loadMap, 400); return; }
    graph = answer;
    $("extent").textContent = graph.status === "complete"
      ? `All ${graph.nodes.length} states`
      : `A sample of the states: at most ${graph.most} of each level`;
    layOut();
    markMap();
  }

  // By distance from the start; within a level, near those one comes from.
  function layOut() {
    const levels = [];
    graph.nodes.forEach((node, at) => (levels[node.depth] ||= []).push(at));
    const parents = graph.nodes.map(() => []);
    for (const [from, to] of graph.edges) if (graph.nodes[from].depth < graph.nodes[to].depth) parents[to].push(from);
    const widest = Math.max(...levels.map((level) => level.length));
    const width = Math.max(260, widest * 15 + 24), place = [];
    for (const level of levels) {
      const wish = new Map(level.map((at) => [at, parents[at].length
        ? parents[at].reduce((sum, from) => sum + place[from].x, 0) / parents[at].length : 0]));
      level.sort((one, two) => wish.get(one) - wish.get(two) || one - two);
      level.forEach((at, number) => {
        place[at] = { x: (width * (number + 0.5)) / level.length, y: 18 + graph.nodes[at].depth * 26 };
      });
    }
    const height = 36 + 26 * (levels.length - 1);
    const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "all states" });
    // As wide as there is room for, unless its circles would be too small.
    Object.assign(picture.style, { width: "100%", minWidth: `${0.6 * width}px`, maxWidth: `${width}px` });
    graph.lines = graph.edges.filter(([from, to]) => from !== to).map(([from, to]) => {
      const line = svg("line", { x1: place[from].x, y1: place[from].y, x2: place[to].x, y2: place[to].y });
      picture.append(line);
      return [from, to, line];
    });
    graph.circles = graph.nodes.map((node, at) => {
      const circle = svg("circle", { cx: place[at].x, cy: place[at].y, r: node.bad ? 5 : 4, "data-state": node.id });
      circle.classList.toggle("bad", node.bad);
      circle.classList.toggle("end", node.end);
      const title = svg("title", {});
      title.textContent = `${node.depth} steps from the start${node.bad ? ", a property fails" : ""}${node.end ? ", an end" : ""}`;
      circle.append(title);
      circle.addEventListener("click", () => go(node.path));
      picture.append(circle);
      return circle;
    });
    graph.at = new Map(graph.nodes.map((node, at) => [node.id, at]));
    $("map").replaceChildren(picture);
  }

  function markMap() {
    if (!graph || !here) return;
    const way = here.way.map((leg) => graph.at.get(leg.state));
    const on = new Set(way.filter((at) => at !== undefined));
    const now = graph.at.get(here.state);
    graph.circles.forEach((circle, at) => {
      circle.classList.toggle("way", on.has(at));
      circle.classList.toggle("here", at === now);
    });
    const legs = new Set(way.slice(1).map((at, leg) => `${way[leg]}-${at}`));
    for (const [from, to, line] of graph.lines) line.classList.toggle("way", legs.has(`${from}-${to}`));
    if (now !== undefined) graph.circles[now].scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  // --- keys ----------------------------------------------------------------------------------------------------

  const back = () => { if (here && here.path.length > 1) go(here.path.slice(0, -1)); };
  const take = () => { if (here && here.steps.length) go([...here.path, here.steps[chosen].number]); };
  const choose = (by) => {
    const items = [...$("steps").children];
    let at = chosen + by;
    while (items[at] && items[at].hidden) at += by;
    if (items[at] && here.steps.length) chosen = at;
    markChosen();
    const item = $("steps").children[chosen];
    if (item) item.scrollIntoView({ block: "nearest" });
  };
  const switchTheme = () => {
    const now = root.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
    root.dataset.theme = now === "dark" ? "light" : "dark";
  };

  $("back").addEventListener("click", back);
  $("reset").addEventListener("click", () => go([here ? here.path[0] : 0]));
  $("theme").addEventListener("click", switchTheme);
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.type === "search") {
      if (event.key === "Enter" || event.key === "Escape") event.target.blur();
      return;
    }
    if (event.target.tagName === "INPUT") return;
    const keys = {
      j: () => choose(1), ArrowDown: () => choose(1),
      k: () => choose(-1), ArrowUp: () => choose(-1),
      ArrowRight: take, ArrowLeft: back, Backspace: back,
      Home: () => go([here ? here.path[0] : 0]),
      n: () => { if (nextAlong() >= 0) go([...here.path, nextAlong()]); else if (along) go(along.slice(0, 2)); },
      p: () => { if (along && within(here.path, along)) back(); },
      t: switchTheme,
      "/": () => $("filter-steps").focus(),
    };
    if (event.target === document.body) keys.Enter = take;
    if (!Object.hasOwn(keys, event.key)) return;
    event.preventDefault();
    typed.push(() => { if (here) keys[event.key](); });
    if (!busy) settle();
  });

  $("filter-steps").addEventListener("input", filterSteps);
  $("filter-fields").addEventListener("input", filterFields);
  addEventListener("hashchange", show);
  ask("api/system").then((system) => {
    document.title = `${system.name} · Quorate`;
    $("system").textContent = system.name;
    initials = system.initials;
    if (here) draw();
    const parameters = Object.entries(system.parameters).map(([name, value]) => `${name}=${value}`).join(" ");
    $("instance").textContent = `${parameters}${parameters ? " · " : ""}${system.network}`;
  });
  show();
  poll();
  loadMap();
})();
