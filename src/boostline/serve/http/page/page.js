// The page of boostline serve. Everything that comes from the service is put in as text, never as markup.
"use strict";

const SECONDS = 2;
const FEW = 10; // examples of a label, below which its loss says nothing
const $ = (id) => document.getElementById(id);
let metric = "rank_loss";
let token = sessionStorage.getItem("token") || "";

function make(name, attributes = {}, ...children) {
  const svg = ["svg", "polyline", "line", "text", "title", "g"].includes(name);
  const one = svg ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "click") one.addEventListener("click", value);
    else one.setAttribute(key, value);
  }
  one.append(...children.filter((child) => child !== null && child !== undefined).map((c) => c.nodeType ? c : String(c)));
  return one;
}

async function ask(path, method = "GET", body = null) {
  const headers = token ? { Authorization: `Bearer ${token}` } : {};
  const answer = await fetch(path, { method, headers, body: body && JSON.stringify(body) });
  const told = await answer.json();
  if (answer.status === 401) $("token-form").hidden = false;
  document.body.classList.toggle("closed", answer.status === 401);
  if (!answer.ok) throw Object.assign(new Error(told.detail || answer.statusText), { status: answer.status });
  return told;
}

const number = (x, digits = 3) => (x === null || x === undefined ? "–" : x.toFixed(digits).replace(/^0\./, "."));
const percent = (x) => (x === null || x === undefined ? "–" : `${Math.round(100 * x)} %`);
function span(s) {
  if (s === null || s === undefined) return "–";
  if (s < 1) return `${Math.round(1000 * s)} ms`;
  if (s < 90) return `${Math.round(s)} s`;
  if (s < 5400) return `${Math.round(s / 60)} min`;
  if (s < 48 * 3600) return `${Math.round(s / 3600)} h`;
  return `${Math.floor(s / 86400)} d ${Math.round((s % 86400) / 3600)} h`;
}
const bytes = (b) => (b < 1e6 ? `${Math.round(b / 1e3)} kB` : `${(b / 1e6).toFixed(1)} MB`);

function spark(values) {
  const known = values.filter((v) => v !== null && v !== undefined);
  if (known.length < 2) return null;
  const low = Math.min(...known), high = Math.max(...known) || 1;
  const points = known.map((v, i) => `${(100 * i) / (known.length - 1)},${22 - (20 * (v - low)) / (high - low || 1)}`);
  return make("svg", { viewBox: "0 0 100 24", "aria-hidden": "true" }, make("polyline", { class: "s0", points: points.join(" ") }));
}

function figure(name, value, more, values, judged = "") {
  return make("div", { class: "figure" }, make("div", { class: "name" }, name), make("div", { class: `value ${judged}` }, value),
    make("div", { class: "more" }, more), values ? spark(values) : null);
}

function showTop(now, windows) {
  const model = now.model;
  $("state-text").textContent = `· ${model.name} v${model.version}` + (model.cold ? " · cold: nothing learned yet" : "") +
    ` · learned ${model.clock.toLocaleString("en")} rows · ${now.waiting.toLocaleString("en")} waiting for labels · up ${span(now.uptime)}` +
    (model.failure ? ` · LEARNING HAS STOPPED: ${model.failure}` : "") + model.warnings.map((w) => ` · ${w}`).join("");
  $("state-text").className = model.failure || model.warnings.length ? "bad" : "";
  const last = windows.slice(-40);
  const better = now.rank_loss !== null && now.rank_loss_before !== null && now.rank_loss <= now.rank_loss_before * 1.1;
  const judged = now.rank_loss === null || now.rank_loss_before === null ? "" : better ? "good" : "bad";
  $("figures").replaceChildren(
    figure("Rank loss, last 1,000", number(now.rank_loss), `${now.before_is} ${number(now.rank_loss_before)}, served ${number(now.served_rank_loss)}`,
      last.map((w) => w.rank_loss), judged),
    figure("P@1", percent(now["precision@1"]), "first label is right", last.map((w) => w["precision@1"])),
    figure("Labels arrive after", span(now.delay_median), `95 % within ${span(now.delay_95)}`, last.map((w) => w.delay_median)),
    figure("Rankings per second", number(now.rankings_per_second, 1), `${now.rankings.toLocaleString("en")} in all`),
    figure("99 % answered within", now.p99_ms === null ? "–" : `${now.p99_ms} ms`, now.p50_ms === null ? "" : `half within ${now.p50_ms} ms`));
}

// Lines over time: [{name, points: [[x, y]], dash}], marks: [[x, text]].
function chart(box_id, lines, marks, height = 220) {
  const width = Math.max(300, $(box_id).clientWidth), left = 44, bottom = 20;
  const all = lines.flatMap((line) => line.points);
  const box = make("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": lines.map((l) => l.name).join(", ") });
  if (all.length < 2) {
    box.append(make("text", { x: left, y: height / 2 }, "There is nothing to draw yet: it comes with the first feedback."));
    return box;
  }
  const xs = all.map((p) => p[0]), ys = all.map((p) => p[1]);
  const x0 = Math.min(...xs), x1 = Math.max(...xs), y1 = Math.max(...ys, 1e-9);
  const place = ([x, y]) => [left + ((width - left - 8) * (x - x0)) / (x1 - x0 || 1), 8 + (height - bottom - 8) * (1 - y / y1)];
  for (const share of [0, 0.5, 1]) {
    const [, y] = place([x0, share * y1]);
    box.append(make("line", { class: "grid", x1: left, x2: width - 8, y1: y, y2: y }), make("text", { x: 4, y: y + 4 }, number(share * y1)));
  }
  const when = (t) => new Date(1000 * t).toLocaleString("en-GB", { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });
  box.append(make("text", { x: left, y: height - 4 }, when(x0)), make("text", { x: width - 8, y: height - 4, "text-anchor": "end" }, when(x1)));
  for (const [x, text] of marks.filter((m) => m[0] >= x0 && m[0] <= x1)) {
    const [at] = place([x, 0]);
    box.append(make("line", { class: "mark", x1: at, x2: at, y1: 8, y2: height - bottom }, make("title", {}, text)), make("text", { x: at + 3, y: 18 }, text));
  }
  lines.forEach((line, i) => {
    const places = line.points.map(place);
    if (places.length === 1) places.push([places[0][0] + 12, places[0][1]]); // a single window is seen, too
    const points = places.map((p) => p.map((v) => v.toFixed(1)).join(",")).join(" ");
    box.append(make("polyline", { class: `s${i % 5} ${line.dash ? "dash" : ""}`, points }, make("title", {}, line.name)));
  });
  return box;
}

function showHistory(history, champion, members, turnover) {
  const marks = history.changes.filter((c) => c.kind === "promote" || c.kind === "rollback").map((c) => [c.time, c.kind === "promote" ? `${c.name} promoted` : "rolled back"]);
  const ours = history.models[champion] || [];
  ours.forEach((w, i) => { if (i && w.restarts > ours[i - 1].restarts) marks.push([w.to, "drift: restart"]); });
  let lines;
  if (metric === "labels") {
    const worst = labelRows(history, champion).slice(0, 5);
    lines = worst.map((row) => ({ name: row.label, points: ours.filter((w) => w.labels && w.labels.loss[row.place] != null).map((w) => [w.to, w.labels.loss[row.place]]) }));
  } else {
    lines = Object.entries(history.models).map(([name, windows]) => ({ name: name + (name === champion ? " (champion)" : ""),
      points: windows.filter((w) => w[metric] != null).map((w) => [w.to, w[metric]]) }));
    lines.push({ name: "as served", dash: true, points: ours.filter((w) => w.served && w.served[metric] != null).map((w) => [w.to, w.served[metric]]) });
  }
  lines = lines.filter((line) => line.points.length);
  $("chart").replaceChildren(chart("chart", lines, marks));
  $("legend").replaceChildren(...lines.map((line, i) => make("span", { class: `t${i % 5}` }, `${line.dash ? "- -" : "—"} ${line.name}`)));
  const count = ours.length && ours[ours.length - 1].weights ? ours[ours.length - 1].weights.length : 0;
  const heavy = [...Array(count).keys()].sort((a, b) => Math.abs(ours[ours.length - 1].weights[b]) - Math.abs(ours[ours.length - 1].weights[a])).slice(0, 5);
  $("weights").replaceChildren(chart("weights", heavy.map((i) => ({ name: members[i], points: ours.filter((w) => w.weights && w.weights.length > i && w.to).map((w) => [w.to, Math.abs(w.weights[i])]) })), [], 160),
    make("p", { class: "legend" }, ...heavy.map((i, n) => make("span", { class: `t${n}` }, `— ${members[i]}`))),
    make("p", { class: "dim" }, turnover ? `Weights adapt over about ${Math.round(turnover).toLocaleString("en")} rows.` : ""));
}

function labelRows(history, champion) {
  const windows = (history.models[champion] || []).filter((w) => w.labels);
  const now = windows.slice(-10), before = windows.slice(0, -10).slice(-50);
  const mean = (some, i) => {
    let sum = 0, n = 0;
    for (const w of some) if (w.labels.loss[i] != null) { sum += w.labels.loss[i] * w.labels.relevant[i]; n += w.labels.relevant[i]; }
    return n >= 10 ? sum / n : null; // fewer rows say nothing about a label
  };
  const rows = now.reduce((sum, w) => sum + w.rows, 0) || 1;
  return history.labels.map((label, i) => ({ label, place: i, now: mean(now, i), before: mean(before, i),
    examples: windows.reduce((sum, w) => sum + (w.labels.relevant[i] || 0), 0), share: now.reduce((sum, w) => sum + (w.labels.relevant[i] || 0), 0) / rows }))
    .filter((row) => !history.retired.includes(row.place)).sort((a, b) => (a.examples < FEW) - (b.examples < FEW) || (b.now ?? -1) - (a.now ?? -1));
}

function showLabels(history, champion) {
  const head = make("tr", {}, ...["label", "relevant in", "loss now", "before", ""].map((t) => make("th", { scope: "col" }, t)));
  const rows = labelRows(history, champion).slice(0, 12).map((row) => {
    const drifts = row.now !== null && row.before !== null && row.now > 1.3 * row.before + 0.02;
    return make("tr", {}, make("td", {}, row.label), make("td", {}, percent(row.share)), make("td", {}, number(row.now)), make("td", {}, number(row.before)),
      row.examples < FEW ? make("td", { class: "dim" }, "few examples") : make("td", { class: "bad" }, drifts ? "getting worse" : ""));
  });
  $("labels").replaceChildren(head, ...rows);
}

async function showWhy(id, label) {
  try {
    const why = await ask(`why/${encodeURIComponent(id)}?label=${encodeURIComponent(label)}`);
    const lifts = why.learners.filter((l) => Math.abs(l.lift) > 1e-6).slice(0, 5).map((l) => `${l.learner} ${l.lift > 0 ? "+" : ""}${l.lift.toFixed(3)}`);
    const speaks = why.features.filter((f) => f.part > 0).slice(0, 5).map((f) => f.value === null ? f.name : `${f.name} = ${number(f.value)}`);
    $("why").textContent = `Why ${why.label} for ${id}? It is number ${why.rank} now. What speaks for it: ${speaks.join(", ") || "nothing in particular"}. Learners that move it among the others: ${lifts.join(", ")}.`;
  } catch (error) { $("why").textContent = error.message; }
}

let shownLatest = "";
async function showLatest() {
  const latest = await ask("latest");
  if (JSON.stringify(latest) === shownLatest) return; // so that buttons keep the focus
  shownLatest = JSON.stringify(latest);
  const features = (one) => Object.entries(one.features).map(([name, value]) => `${name} = ${typeof value === "number" ? Number(value.toPrecision(4)) : value ?? "missing"}`).join(", ");
  $("latest").replaceChildren(...latest.slice(0, 10).map((one) => make("li", {}, make("p", { title: one.id }, one.text || features(one) || one.id),
    make("p", { class: "dim" }, one.labels.map((l) => `${l.label} ${percent(l.probability)}`.replaceAll(" ", "\u00a0")).join(", "),
      one.relevant === null ? " · waiting for labels " : " · came back: ", make("b", {}, one.relevant === null ? "" : one.relevant.join(", ") || "none"), " ",
      one.labels.length ? make("button", { type: "button", click: () => showWhy(one.id, one.labels[0].label) }, "why") : ""))));
}

function sure(text) {
  const box = $("sure");
  $("sure-text").textContent = text;
  box.showModal();
  $("sure-no").focus();
  return new Promise((done) => {
    const end = (answer) => { box.close(); done(answer); };
    $("sure-yes").onclick = () => end(true);
    $("sure-no").onclick = () => end(false);
    box.oncancel = () => done(false);
  });
}

async function change(text, path, body = null) {
  if (!(await sure(text))) return;
  try { await ask(path, "POST", body); } catch (error) { $("rollback").textContent = error.message; }
  refresh();
}

let shownModels = "";
function showModels(now, history) {
  const model = now.model;
  const key = JSON.stringify([model.name, model.challengers, model.snapshots, Object.values(history.models).map((w) => w.length)]);
  if (key === shownModels) return; // so that buttons keep the focus
  shownModels = key;
  const loss = (name) => {
    const windows = (history.models[name] || []).filter((w) => w.rank_loss != null).slice(-10);
    return windows.length ? windows.reduce((s, w) => s + w.rank_loss * w.rows, 0) / windows.reduce((s, w) => s + w.rows, 0) : null;
  };
  const head = make("tr", {}, ...["model", "", "loss", "µs/row", "memory", "rows"].map((t) => make("th", { scope: "col" }, t)));
  const row = (one, serves) => make("tr", {}, make("td", {}, one.name), make("td", { class: "text" }, serves ? "champion" : make("button", { type: "button", click: () => change(`Let ${one.name} serve instead of ${model.name}?`, `challengers/${encodeURIComponent(one.name)}/promote`) }, "promote")),
    make("td", {}, number(loss(one.name))), make("td", {}, Math.round(one.microseconds_per_row)), make("td", {}, bytes(one.memory_bytes)),
    make("td", {}, one.clock.toLocaleString("en") + (one.lag ? ` (${one.lag} behind)` : "")));
  $("models").replaceChildren(head, row(model, true), ...model.challengers.map((one) => row(one, false)));
  const old = model.snapshots.slice(0, -1).slice(-5).reverse();
  $("rollback").replaceChildren(...(old.length ? ["Roll back to ", ...old.map((s) => make("button", { type: "button",
    click: () => change(`Go back to version ${s.version} (${s.clock} rows)? What was learned since is left out.`, "rollback", { version: s.version }) }, `v${s.version}`))] : []));
}

async function refresh() {
  try {
    const [now, history] = await Promise.all([ask("overview"), ask("history?windows=300")]);
    $("token-form").hidden = true;
    showFirstSteps(now);
    showTop(now, (history.models[now.model.name] || []));
    showHistory(history, now.model.name, now.members, now.weights_rows);
    showLabels(history, now.model.name);
    showModels(now, history);
    await showLatest().catch((error) => { $("latest").replaceChildren(make("tr", {}, make("td", { class: "dim" }, error.message))); });
  } catch (error) {
    const asks = error.status === 401;
    $("state-text").textContent = !asks ? `· ${error.message}` : token ? "· the service does not know this token" : "";
    $("state-text").className = asks && !token ? "" : "bad";
  }
}

// Until something is ranked or learned there is nothing to show but how to begin.
function showFirstSteps(now) {
  const isNew = now.rankings === 0 && now.model.cold;
  document.body.classList.toggle("new", isNew);
  if (!isNew || $("first-steps").hasChildNodes()) return;
  const what = now.takes_texts ? '"text": "printer is offline"' : '"features": {"f0": 0.3, "colour": "red"}';
  const curl = (path, body) => `curl -s ${location.origin}${path}${token ? " -H 'Authorization: Bearer YOUR_TOKEN'" : ""} -d '${body}'`;
  const labels = JSON.stringify(now.first_labels.slice(0, 1));
  for (const [text, command] of [["Rank an example:", curl("/rank", `{"id": "a1", ${what}}`)], ["Send its labels later:", curl("/feedback", `{"id": "a1", "relevant": ${labels}}`)]]) {
    $("first-steps").append(make("p", {}, text), make("pre", {}, command), make("button", { type: "button", click: () => navigator.clipboard.writeText(command) }, "copy"));
  }
}

function setTheme(dark) {
  document.documentElement.classList.toggle("dark", dark);
  localStorage.setItem("theme", dark ? "dark" : "light");
}

const kept = localStorage.getItem("theme");
setTheme(kept ? kept === "dark" : matchMedia("(prefers-color-scheme: dark)").matches);
$("theme").addEventListener("click", () => setTheme(!document.documentElement.classList.contains("dark")));
document.querySelectorAll("[data-metric]").forEach((button) => button.addEventListener("click", () => {
  metric = button.dataset.metric;
  document.querySelectorAll("[data-metric]").forEach((one) => one.setAttribute("aria-pressed", one === button));
  refresh();
}));
$("token-form").addEventListener("submit", (event) => {
  event.preventDefault();
  token = $("token").value;
  sessionStorage.setItem("token", token);
  refresh();
});
refresh();
setInterval(() => { if (!document.hidden) refresh(); }, 1000 * SECONDS);
