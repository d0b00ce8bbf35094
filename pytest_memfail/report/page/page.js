"use strict";
// Texts of memories and models are set as text only, never as markup.
(function () {
  const data = JSON.parse(document.getElementById("data").textContent);
  const text = (i) => (i === null || i === undefined ? "" : data.texts[i]);
  const list = document.getElementById("list");
  const status = document.getElementById("status");
  const form = document.querySelector("form");
  const PAGE = 100;

  function element(name, content, className) {
    const made = document.createElement(name);
    if (className) made.className = className;
    if (typeof content === "string") made.textContent = content;
    else if (content) made.append(...content);
    return made;
  }

  function marked(whole, details, className) {
    const lower = whole.toLowerCase();
    const spans = [];
    if (lower.length === whole.length) {  // else positions do not carry over
      for (const detail of details || []) {
        const at = detail.trim() ? lower.indexOf(detail.toLowerCase()) : -1;
        if (at >= 0) spans.push([at, at + detail.length]);
      }
    }
    spans.sort((a, b) => a[0] - b[0]);
    const parts = [];
    let end = 0;
    for (const [from, to] of spans) {
      if (from < end) continue;
      parts.push(whole.slice(end, from), element("mark", whole.slice(from, to), className));
      end = to;
    }
    parts.push(whole.slice(end));
    return parts;
  }

  function field(into, name, content) {
    into.append(element("dt", name), element("dd", content));
  }

  function fact(into, found, number) {
    const part = element("dl", null, "fact");
    field(part, "fact " + number, found.v + (found.text === null ? "" : ": " + text(found.text)));
    field(part, "said", marked(text(found.source), found.missing, "lost"));
    for (const [stage, outcome, reason] of found.stages) field(part, stage, outcome + (reason ? ": " + reason : ""));
    if (found.missing.length) field(part, "lost", found.missing.join("; "));
    for (const i of found.closest) field(part, found.v === "not_stored" ? "closest" : "stored", marked(text(i), found.found, "kept"));
    if (found.v === "not_retrieved") {
      const ranks = found.ranks.filter((rank) => rank !== null);
      field(part, "rank", ranks.length ? "shown at rank " + ranks.join(", ") + ", but not enough of it" : "not among the entries shown");
    }
    into.append(part);
  }

  function view(question) {
    const made = element("div", null, "view");
    const top = element("dl");
    field(top, "verdict", question.v + (question.unsure ? " (the judge is unsure)" : "") + ": " + (data.meanings[question.v] || ""));
    field(top, "question", text(question.q));
    field(top, "gold", question.gold.join("; "));
    if (question.repeats.length) field(top, "repeats", question.repeats.join(", "));
    if (question.error) field(top, "error", question.error);
    made.append(top);
    (question.facts || []).forEach((found, i) => fact(made, found, i + 1));
    const end = element("dl", null, "fact");
    if (question.retrieved) {
      const shown = question.retrieved.map(([i, score]) => element("li", (score === null ? "" : "[" + score.toFixed(3) + "] ") + text(i)));
      field(end, "retrieved", shown.length ? [element("ol", shown)] : "nothing");
    }
    if (question.reply !== null) field(end, "answer", text(question.reply));
    if (question.judged) field(end, "judged", question.judged);
    if (question.row) field(end, "row", question.row + "  k=" + question.k);
    field(end, "rerun", [element("pre", question.rerun)]);
    made.append(end);
    return made;
  }

  function entry(question) {
    const made = element("details");
    const badge = element("span", question.v.replace("_", " "), "badge");
    badge.style.borderColor = "var(--" + question.v + ")";
    const label = data.labels.length > 1 ? data.labels[question.r] + " " : "";
    const why = question.why ? [" ", element("span", question.why, "soft")] : [];
    made.append(element("summary", [badge, label, element("code", question.id), ...why]));
    made.addEventListener("toggle", () => {
      if (made.open && made.childElementCount === 1) made.append(view(question));
    });
    return made;
  }

  let matching = [];
  let shown = 0;
  const more = document.getElementById("more");

  function showMore(count) {
    const next = matching.slice(shown, shown + count);
    list.append(...next.map(entry));
    shown += next.length;
    more.hidden = shown >= matching.length;
    status.textContent = matching.length + " of " + data.questions.length + " questions match, " + shown + " listed";
    return list.children[shown - next.length];
  }

  function filter() {
    const chosen = Object.fromEntries(new FormData(form));
    const words = chosen.words.trim().toLowerCase();
    const within = (q) => [q.id, text(q.q), ...q.gold, text(q.reply), ...(q.facts || []).map((f) => text(f.source)),
      ...(q.retrieved || []).map(([i]) => text(i))].some((part) => part.toLowerCase().includes(words));
    matching = data.questions.filter((q) =>
      (chosen.verdict === "" || (chosen.verdict === "failed" ? data.failures.includes(q.v) : q.v === chosen.verdict)) &&
      (chosen.task === "" || q.task === chosen.task) &&
      (!chosen.record || String(q.r) === chosen.record) &&
      (words === "" || within(q)));
    list.replaceChildren();
    shown = 0;
    showMore(PAGE);
  }

  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  more.addEventListener("click", () => {
    const first = showMore(PAGE);
    if (first) first.querySelector("summary").focus();
  });
  window.addEventListener("beforeprint", () => { showMore(matching.length); });
  filter();
})();
