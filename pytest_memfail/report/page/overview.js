// The heat map, what failures have in common, and the ranks of the needed memories.
const COLUMNS = [["held", "no failure"], ["wrongly_held", "wrongly held"], ["not_stored", "storage"], ["summary_error", "summary"], ["not_retrieved", "retrieval"],
  ["reasoning_error", "answer"], ["open", "no verdict"]];
const columnOf = (q) => (q.h ? "held" : q.v in { wrongly_held: 1, not_stored: 1, summary_error: 1, not_retrieved: 1, reasoning_error: 1 } ? q.v : "open");

function heatMap(questions, refresh) {
  const counts = new Map([["all", {}]]);
  for (const q of questions) {
    if (!counts.has(q.task)) counts.set(q.task, {});
    for (const row of [counts.get("all"), counts.get(q.task)]) {
      row.n = (row.n || 0) + 1;
      row[columnOf(q)] = (row[columnOf(q)] || 0) + 1;
    }
  }
  const all = counts.get("all");
  counts.delete("all");
  const rows = [...counts, ["all", all]];
  const used = COLUMNS.filter(([name]) => name === "held" || all[name] || !["open", "reasoning_error", "wrongly_held"].includes(name));
  const cell = (task, row, [name, title]) => {
    const n = row[name] || 0, chosen = get("task") === (task === "all" ? "" : task) && get("verdict") === name;
    const made = button([element("strong", percent(n, row.n)), " ", element("small", String(n))], () => {
      set(chosen ? { task: "", verdict: "", q: "" } : { task: task === "all" ? "" : task, verdict: name, q: "" });
      refresh();
    }, "cell", { "aria-pressed": chosen, "aria-label": task + ", " + title + ": " + n + " of " + row.n });
    made.style.setProperty("--share", Math.round((85 * n) / (row.n || 1)) + "%");
    made.style.setProperty("--hue", "var(--" + (name === "open" ? "ungraded" : name) + ")");
    return element("td", [made]);
  };
  const head = element("tr", [element("th", "task", null, { scope: "col" }), ...used.map(([, title]) => element("th", title, null, { scope: "col" }))]);
  const body = rows.map(([task, row]) => element("tr", [element("th", task, null, { scope: "row" }), ...used.map((column) => cell(task, row, column))],
    task === "all" ? "total" : ""));
  return element("table", [element("caption", "Where questions end, by task. A cell filters the list."), element("thead", [head]), element("tbody", body)], "heat");
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
