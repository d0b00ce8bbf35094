// Which questions are shown, in which order, and what belongs to the view.
const form = byId("filters");
const VIEWS = ["questions", "store", "figures"];
let list, showStore;
// Failures and errors, then the other states, those that say least first.
const worst = (q) => { const at = data.failures.indexOf(q.v); return at >= 0 ? at : 100 - data.states.indexOf(q.v); };
// Regressions first; what a verbatim store loses too comes last.
const place = (q) => 2 * (q.c === undefined ? 0 : ["worse", "other", "better", "same"].indexOf(q.c)) + (q.ref === "ceiling");
const SORTS = {
  "": (a, b) => place(a) - place(b),
  verdict: (a, b) => worst(a) - worst(b),
  task: (a, b) => (a.task < b.task ? -1 : a.task > b.task ? 1 : 0),
  rank: (a, b) => (rankOf(b) ?? -1) === (rankOf(a) ?? -1) ? 0 : (rankOf(b) ?? -1) - (rankOf(a) ?? -1),
  sure: (a, b) => b.unsure - a.unsure,
  lost: (a, b) => b.lost - a.lost,
};

// Search each text once, however many questions share it.
function containing(words) {
  const has = data.texts.map((one) => one.toLowerCase().includes(words));
  const plainText = (one) => one.toLowerCase().includes(words);
  return (q) => plainText(q.id) || has[q.q] || q.gold.some(plainText) || (q.reply !== null && has[q.reply]) ||
    (q.facts || []).some((f) => has[f.source] || f.missing.some(plainText)) || (q.retrieved || []).some(([i]) => has[i]);
}

function matches(q) {
  const verdict = get("verdict");
  return (verdict === "" || (verdict === "failed" ? data.failures.includes(q.v) : verdict === "held" ? q.m === true : q.v === verdict)) &&
    (get("task") === "" || q.task === get("task")) && (get("rank") === "" || rankClass(q) === get("rank")) &&
    (get("change") === "" || (get("change") === "moved" ? q.c === "worse" || q.c === "better" : q.c === get("change"))) &&
    (get("reference") === "" || q.ref === get("reference")) &&
    (!data.clues[get("clue")] || (String(q.r) === get("clue").split(".")[0] && data.clues[get("clue")].ids.includes(q.id)));
}

function row(q) {
  const label = data.labels.length > 1 ? [element("small", data.labels[q.r] + " ", "soft")] : [];
  const from = q.old !== undefined && q.c !== "same" ? [badge(data.questions[q.old]), "→ "] : [];
  // what differs between rows comes first: the end of the id, and of "no entry says it; the closest is ..." the question
  const [place, name] = q.id.includes("::") ? q.id.split(/::(.*)/s) : ["", q.id];
  const said = ["not_stored", "not_retrieved"].includes(q.v) ? "" : q.why;
  return [element("span", [...label, ...from, badge(q), element("code", name), element("small", " " + place.replace(/^.*\//, ""), "soft")], "one"), element("span", said || text(q.q), "soft one")];
}

function choose(q) {
  set({ q: q.r + ":" + q.id });
  byId("detail").replaceChildren(...detail(q));
}

// On a phone the list is out of sight: show it after a choice above it.
function reveal() {
  refresh();
  const top = byId("status").getBoundingClientRect().top;
  if (top > 0.7 * innerHeight) byId("status").scrollIntoView({ block: "start" });
}

function refresh() {
  const view = VIEWS.includes(get("view")) ? get("view") : "questions";
  for (const name of VIEWS) {
    byId(name).hidden = name !== view;
    byId("to-" + name).setAttribute("aria-current", name === view ? "page" : "false");
  }
  for (const control of form.elements) if (control.name) control.value = get(control.name);
  if (view === "store") { showStore = showStore || storeView(); showStore(); }
  if (view !== "questions") return;
  const record = get("record");
  const of = data.questions.filter((q) => record === "" || String(q.r) === record);
  const words = get("words").trim().toLowerCase();
  const within = words === "" ? () => true : containing(words);
  const found = of.filter((q) => matches(q) && within(q));
  const sort = SORTS[get("sort")] || SORTS[""];
  found.sort(sort);
  byId("heat").replaceChildren(heatMap(data.questions, reveal));
  // the headline of a record is its first clue
  const said = Object.entries(data.clues).filter(([name]) => !name.endsWith(".0") && (record === "" || name.split(".")[0] === record));
  byId("clues").replaceChildren(...said.map(([name, { text, ids }]) => element("li", [text + " ", button(ids.length + " questions",
    () => { set({ clue: get("clue") === name ? "" : name, verdict: "", task: "", q: "" }); reveal(); }, "small", { "aria-pressed": get("clue") === name })])));
  byId("clues-title").hidden = !said.length;
  // failures alone would say that everything ranks badly, and records are not added up
  const ranked = record === "" ? data.labels.length - 1 : Number(record);
  const bars = ranks(data.questions.filter((q) => q.r === ranked && (get("task") === "" || q.task === get("task"))), reveal);
  byId("ranks").replaceChildren(...bars);
  byId("ranks-title").hidden = !bars.length;
  if (data.labels.length > 1) byId("ranks-title").textContent = "Rank of the needed memory, all questions of the task: " + data.labels[ranked];
  byId("status").textContent = found.length + " of " + data.questions.length + " questions match";
  const chosen = found.findIndex((q) => q.r + ":" + q.id === get("q"));
  const at = chosen < 0 && found.length ? 0 : chosen;
  list.show(found, at);
  byId("detail").replaceChildren(...(at >= 0 ? detail(found[at]) : [element("p", "No question matches.", "soft")]));
}

async function start() {
  data = await unpack();
  reload();  // the address may have changed meanwhile
  list = virtualList(byId("list"), "Questions", row, choose);
  if (![...state.keys()].length) set(data.start);
  if (data.labels.length > 1) {  // what changed comes first
    byId("list").parentElement.classList.add("several");
    byId("list").after(document.querySelector(".top"));
  }
  form.addEventListener("input", () => { set({ ...Object.fromEntries(new FormData(form)), q: "" }); refresh(); });
  form.addEventListener("submit", (event) => event.preventDefault());
  byId("reset").addEventListener("click", () => { for (const name of ["verdict", "task", "record", "change", "reference", "rank", "sort", "words", "clue", "q"]) set({ [name]: "" }); refresh(); });
  for (const name of VIEWS) byId("to-" + name).addEventListener("click", () => { set({ view: name === "questions" ? "" : name }); refresh(); });
  window.addEventListener("hashchange", () => { reload(); reveal(); });
  refresh();
  document.documentElement.dataset.ready = "true";
}
start();
