// The heat map, what failures have in common, and the ranks of the needed memories.
// A row per task, and per record if there are several: shares of records are never added up.
function heatMap(questions, refresh) {
  const several = data.labels.length > 1, counts = new Map(), occur = new Set();
  const rowOf = (task, r) => {
    if (!counts.has(task)) counts.set(task, new Map());
    const of = counts.get(task);
    if (!of.has(r)) of.set(r, { n: 0, tested: 0, held: 0 });
    return of.get(r);
  };
  for (const q of questions) {
    occur.add(q.v);
    for (const row of [rowOf(q.task, q.r), rowOf("all", q.r)]) {
      row.n++;
      row[q.v] = (row[q.v] || 0) + 1;
      if (q.m !== null) { row.tested++; row.held += q.m; }
    }
  }
  const all = counts.get("all");
  counts.delete("all");
  const states = data.states.filter((state) => occur.has(state) || data.memory.includes(state));
  const cell = (task, r, name, [strong, small], share, said, hue) => {
    const at = { task: task === "all" ? "" : task, verdict: name, ...(several && { record: String(r) }) };
    const chosen = Object.entries(at).every(([key, value]) => get(key) === value);
    const made = button([element("strong", strong), ...(small ? [" ", element("small", small)] : [])], () => {
      set({ ...at, ...(chosen && { task: "", verdict: "", record: "" }), change: "", q: "" });
      refresh();
    }, "cell", { "aria-pressed": chosen, "aria-label": [task, ...(several ? [data.labels[r]] : []), said].join(", ") });
    made.style.setProperty("--share", Math.round(85 * share) + "%");
    made.style.setProperty("--hue", "var(--" + hue + ")");
    return element("td", [made]);
  };
  const line = (task, r, row, first, height) => {
    const found = first ? [element("th", task, null, { scope: height > 1 ? "rowgroup" : "row", rowspan: height })] : [];
    if (several) found.push(element("th", data.labels[r], "soft left", { scope: "row" }));
    found.push(cell(task, r, "held", [percent(row.held, row.tested), "of " + row.tested], row.held / (row.tested || 1), "memory held: " + row.held + " of " + row.tested, "correct"));
    found.push(element("td", String(row.n)));
    for (const name of states) {
      const n = row[name] || 0;
      found.push(cell(task, r, name, [String(n)], n / row.n, plain(name) + ": " + n + " of " + row.n, name));
    }
    return element("tr", found, task === "all" ? "total" : "");
  };
  const body = [...counts, ["all", all]].flatMap(([task, of]) => [...of].map(([r, row], i) => line(task, r, row, i === 0, of.size)));
  const titles = ["task", ...(several ? ["record"] : []), "memory held", "n", ...states.map(plain)];
  const head = element("tr", titles.map((title) => element("th", title, null, { scope: "col" })));
  return element("table", [element("caption", "Memory held, and how the n questions ended. A cell filters the list."), element("thead", [head]), element("tbody", body)], several ? "heat several" : "heat");
}

// Conclusions are drawn from at least this many questions.
const ENOUGH = 5;

const bestRank = (fact) => Math.min(...fact.ranks.map((rank) => rank ?? Infinity));
const stored = (q) => (q.facts || []).filter((fact) => !["not_stored", "summary_error"].includes(fact.v) && fact.ranks.length);
// The place of a question's worst needed memory: a rank, Infinity if it was not shown, null if nothing of it is stored.
const rankOf = (q) => (q.rank === undefined ? (q.rank = stored(q).length ? Math.max(...stored(q).map(bestRank)) : null) : q.rank);
const rankClass = (q) => { const rank = rankOf(q); return rank === null ? "" : rank === 1 ? "first" : rank === Infinity ? "none" : "later"; };

function ranks(questions, refresh) {
  const known = questions.filter((q) => rankOf(q) !== null);
  if (!known.length) return [];
  const deepest = Math.max(1, ...known.map((q) => (rankOf(q) === Infinity ? q.k : Math.max(q.k, rankOf(q)))));
  const width = Math.ceil(deepest / 20), bins = Math.ceil(deepest / width);
  const counts = Array(bins + 1).fill(0);
  for (const q of known) counts[rankOf(q) === Infinity ? bins : Math.floor((rankOf(q) - 1) / width)]++;
  const most = Math.max(...counts);
  const name = (i) => (i === bins ? "not shown" : width === 1 ? String(i + 1) : i * width + 1 + "–" + Math.min(deepest, (i + 1) * width));
  const bars = counts.map((n, i) => {
    const value = i === bins ? "none" : i === 0 && width === 1 ? "first" : "later";
    const bar = element("i", null, i === bins ? "miss" : "");
    bar.style.height = (n ? Math.max(2, (90 * n) / most) : 0) + "px";
    return button([element("small", String(n)), bar, element("span", name(i))], () => { set({ rank: get("rank") === value ? "" : value, q: "" }); refresh(); },
      "rank", { "aria-pressed": get("rank") === value, "aria-label": (i === bins ? "not shown" : "rank " + name(i)) + ": " + n + " questions" });
  });
  return [element("div", bars, "ranks", { role: "group", "aria-label": "Rank of the needed memory" }), element("p", reading(known, deepest), "soft")];
}

function reading(known, deepest) {
  const missed = known.filter((q) => rankOf(q) === Infinity), shown = known.length - missed.length;
  const low = known.filter((q) => rankOf(q) !== Infinity && rankOf(q) > Math.max(1, q.k / 2)).length;
  let said = missed.length + " of " + known.length + " questions lack a needed memory among those shown. ";
  const keyOf = (q) => [q.r, q.task, q.store, q.name].join("\n");
  const deep = new Map(known.filter((q) => q.k === deepest).map((q) => [keyOf(q), q]));
  const cut = missed.filter((q) => q.k < deepest && deep.has(keyOf(q)));
  if (cut.length) {
    const found = cut.filter((q) => rankOf(deep.get(keyOf(q))) !== Infinity).length;
    return said + "Of " + cut.length + " missed at a smaller k, k=" + deepest + " shows " + found + (cut.length < ENOUGH ? "." : found > cut.length / 2 ? ": k is too small." : ": the ranking is wrong, not k.");
  }
  if (!missed.length) return said;
  return said + low + " of the " + shown + " others rank in the lower half" + (shown < ENOUGH ? "." : low > 0.3 * shown ? ": ranks reach down to k, so a larger k would show more." :
    ": what is found ranks high, so a larger k would add little; the ranking misses the rest.");
}
