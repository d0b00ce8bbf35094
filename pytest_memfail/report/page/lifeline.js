// The life line of a fact, and all that is known of a question.
const MARKS = { ok: "✓", broken: "✗", open: "?", none: "–" };
const SAID = { ok: "passed", broken: "lost here", open: "not judged", none: "not reached" };

function steps(question, fact) {
  const stage = Object.fromEntries(fact.stages.map(([name, outcome]) => [name, outcome]));
  const ranks = fact.ranks.filter((rank) => rank !== null);
  const found = [["said", "ok", ""]];
  const add = (name, mark, note) => found.push([name, found.some(([, before]) => before === "broken") ? "none" : mark, note]);
  const judged = (name) => ({ passed: "ok", failed: "broken" })[stage[name]] || "open";
  if (judged("storage") !== "ok") add("stored", judged("storage"), judged("storage") === "broken" ? "no memory says it" : "");
  else add("stored", judged("summary"), judged("summary") === "broken" ? "without " + (fact.missing.join("; ") || "a part of it") : "");
  const failed = stage.retrieval === "failed";
  if (ranks.length) add("ranked", "ok", "rank " + ranks.join(", ") + " of " + question.retrieved.length);
  else add("ranked", failed ? "broken" : judged("retrieval"), failed ? "not among the " + question.retrieved.length + " shown" : "another memory says it");
  add("shown", judged("retrieval"), failed ? "not enough of it" : "");
  add("used", { passed: "ok", failed: "broken" }[question.used] || "open", question.used === "failed" ? "the answer is wrong" : "");
  return found;
}

function lifeLine(question, fact) {
  return element("ol", steps(question, fact).map(([name, mark, note]) => {
    const show = mark === "none" || (mark === "open") ? "" : note;
    return element("li", [element("b", MARKS[mark], null, { "aria-hidden": "true" }), element("span", name, "step"),
      element("span", " " + SAID[mark], "spoken"), element("small", show)], mark);
  }), "line", { "aria-label": "life line: " + fact.v });
}

// Return the places of the words of `said` that `stored` lacks, in order. Words in another order are not lost
// (longest common subsequence first, then what is left on both sides). A memory of something else shows nothing.
function lostWords(said, stored) {
  const a = wordsOf(said), b = wordsOf(stored);
  if (a.length * b.length > 1e6) {
    const known = new Set(b.map(({ word }) => word));
    return a.filter(({ word }) => !known.has(word));
  }
  const width = b.length + 1, table = new Uint16Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      table[i * width + j] = a[i].word === b[j].word ? table[(i + 1) * width + j + 1] + 1
        : Math.max(table[(i + 1) * width + j], table[i * width + j + 1]);
  const lost = [], spare = new Map();
  const keep = ({ word }) => spare.set(word, (spare.get(word) || 0) + 1);
  for (let i = 0, j = 0; i < a.length;) {
    if (j < b.length && a[i].word === b[j].word) { i++; j++; }
    else if (j < b.length && table[i * width + j + 1] >= table[(i + 1) * width + j]) keep(b[j++]);
    else lost.push(a[i++]);
    if (i >= a.length) while (j < b.length) keep(b[j++]);
  }
  const gone = lost.filter(({ word }) => !spare.get(word) || !spare.set(word, spare.get(word) - 1));
  return gone.length > 0.6 * a.length ? [] : gone;
}

function diff(fact) {
  const said = text(fact.source), stored = fact.closest.map(text).join("\n");
  const spans = fact.v === "summary_error" && stored ? lostWords(said, stored).map(({ from, to }) => [from, to]) : [];
  const lower = said.toLowerCase();
  for (const detail of lower.length === said.length && fact.v !== "not_retrieved" ? fact.missing : []) {
    const at = placeOf(lower, detail);
    if (at >= 0) spans.push([at, at + detail.length]);
  }
  // join what is separated by blanks only: one mark for one lost phrase
  spans.sort((x, y) => x[0] - y[0] || y[1] - x[1]);
  const joined = [];
  for (const [from, to] of spans) {
    const last = joined[joined.length - 1];
    if (last && (from <= last[1] || !said.slice(last[1], from).trim())) last[1] = Math.max(last[1], to);
    else joined.push([from, to]);
  }
  return inMarks(said, joined, "lost");
}

function field(into, name, content) {
  into.append(element("dt", name), element("dd", content));
}

function factView(question, fact, number) {
  const made = element("dl");
  if (fact.text !== null) field(made, "fact", text(fact.text));
  field(made, "said", diff(fact));
  if (fact.kept) field(made, "kept of it", [element("p", fact.kept[0]), ...fact.kept[1].map((i) => element("p", text(i)))]);
  for (const i of fact.closest.filter((i) => !fact.kept || !fact.kept[1].includes(i))) field(made, fact.v === "not_stored" ? "closest" : "stored", marked(text(i), fact.found, "kept"));
  if (fact.missing.length) field(made, "lost", fact.missing.join("; "));
  const reason = fact.stages.filter(([, outcome, why]) => why && outcome !== "not_reached").map(([name, outcome, why]) => name + " " + outcome + ": " + why);
  if (reason.length) field(made, "judged", reason[reason.length - 1]);
  return element("section", [element("h4", "Fact " + number + ": " + plain(fact.v)), lifeLine(question, fact), made], "fact");
}

function badge(q) {
  const made = element("span", plain(q.v), "badge");
  made.style.borderColor = "var(--" + q.v + ")";
  return made;
}

function questionView(question) {
  const made = element("article", [element("h3", [badge(question), element("code", question.id)])]);
  if (data.labels.length > 1) made.append(element("p", data.labels[question.r], "soft"));
  const top = element("dl");
  field(top, "verdict", plain(question.v) + (question.unsure ? " (the judge is unsure)" : "") + ": " + (data.meanings[question.v] || ""));
  field(top, "question", text(question.q));
  field(top, "gold", question.gold.join("; "));
  if (question.repeats.length) field(top, "repeats", question.repeats.map(plain).join(", "));
  if (question.error) field(top, "error", question.error);
  made.append(top);
  const facts = question.facts || [];
  const order = facts.map((fact, i) => [fact, i + 1]).sort(([a], [b]) => (b.v === question.v) - (a.v === question.v));
  made.append(...order.map(([fact, i]) => factView(question, fact, i)));
  const end = element("dl", null, "fact");
  if (question.retrieved) {
    const shown = question.retrieved.map(([i, score]) => element("li", (score === null ? "" : "[" + score.toFixed(3) + "] ") + text(i)));
    field(end, "shown", shown.length ? [element("ol", shown)] : "nothing");
  }
  if (question.reply !== null) field(end, "answer", text(question.reply));
  if (question.judged) field(end, "judged", question.judged);
  if (question.row) field(end, "row", question.row + "  k=" + question.k);
  field(end, "rerun", [element("pre", question.rerun)]);
  made.append(end);
  return made;
}

// A question beside the same one in the first record.
function detail(question) {
  if (question.old === undefined) return [questionView(question)];
  const before = data.questions[question.old];
  return [element("p", [badge(before), "→ ", badge(question)], "moved"),
    element("div", [questionView(before), questionView(question)], "pair")];
}
