// The store browser: memories, where each came from, and what of each conversation is in no memory.
function entriesAt(store, at) {
  let held = [];
  const lists = store.lists.slice(0, at + 1);
  for (const { gone, added } of lists) {
    const left = new Set(gone);
    held = [...held.filter((_, i) => !left.has(i)), ...added];
  }
  return held;
}

// What the record holds of the conversations of a store: what its questions' facts were said in, at this time.
function conversationsOf(store, number) {
  const found = new Map();
  for (const q of data.questions) {
    if (q.r !== store.r || q.task.split(".")[0] !== store.task || q.store !== store.store) continue;
    for (const fact of q.facts || []) {
      const one = found.get(fact.source) || { source: fact.source, said: text(fact.source), claims: new Set(), first: q.listing, ids: new Set() };
      one.first = Math.min(one.first, q.listing);
      one.ids.add(fact.id);
      if (q.listing === number || store.lists.length === 1) for (const i of fact.entries) one.claims.add(i);
      found.set(fact.source, one);
    }
  }
  return [...found.values()].filter((one) => one.first <= number);
}

// Match each memory with a conversation: by the origin that the system tells, else by the rare words in common.
function match(memories, conversations) {
  const places = new Map();
  conversations.forEach((one, i) => {
    for (const word of new Set(wordsOf(one.said).map(({ word }) => word))) {
      if (!places.has(word)) places.set(word, []);
      places.get(word).push(i);
    }
  });
  const origins = new Map();
  return memories.map((memory, place) => {
    const mine = { ...memory, place, said: text(memory.t), from: -1, how: "", facts: 0 };
    const scores = new Map();
    let total = 0;
    for (const word of new Set(wordsOf(mine.said).map(({ word }) => word))) {
      const where = places.get(word) || [];
      const weight = Math.log(1 + conversations.length / (where.length || 0.5));
      total += weight;
      for (const i of where) scores.set(i, (scores.get(i) || 0) + weight);
    }
    let best = -1;
    for (const [i, score] of scores) if (best < 0 || score > scores.get(best)) best = i;
    if (best >= 0 && scores.get(best) >= 0.4 * total) { mine.from = best; mine.how = "best match"; }
    if (mine.from >= 0 && memory.o) origins.set(memory.o, mine.from);
    conversations.forEach((one) => { if (one.claims.has(place)) mine.facts++; });
    return mine;
  }).map((mine) => (mine.o && origins.has(mine.o) ? { ...mine, from: origins.get(mine.o), how: "origin " + mine.o } : mine));
}

function storeView() {
  const stores = data.stores, box = byId("store-body");
  if (!stores.length) { box.replaceChildren(element("p", "The record holds no listing of a store.", "soft")); return () => {}; }
  const name = (store) => (data.labels.length > 1 ? data.labels[store.r] + ": " : "") + (store.store === store.task ? store.store : store.task + " " + store.store);
  const control = (id, label, made) => { made.id = id; return element("div", [element("label", label, null, { for: id }), made]); };
  const select = (options) => element("select", options.map(([value, label]) => element("option", label, null, { value })));
  const which = select(stores.map((store, i) => [String(i), name(store)]));
  const kind = select([["", "all"], ["used", "needed by a question"], ["unclaimed", "unclaimed: no question needs them"], ["orphan", "from no recorded conversation"]]);
  const order = select([["", "as listed"], ["from", "by conversation"], ["long", "longest first"]]);
  const words = element("input", null, null, { type: "search" });
  const time = element("input", null, null, { type: "range", min: "0", step: "1" });
  const timeBox = control("m-time", "time", time), timeSaid = element("output", "", "soft", { for: "m-time" });
  timeBox.append(timeSaid);
  const form = element("form", [control("m-store", "store", which), control("m-kind", "memories", kind), control("m-order", "order", order), control("m-words", "memory contains", words), timeBox],
    null, { "aria-label": "Choose memories" });
  const said = element("p", "", "soft", { role: "status" });
  const left = element("div", null, null, { id: "memories" }), right = element("div", null, null, { id: "conversations" });
  const open = element("section", [element("p", "Choose a memory or a conversation.", "soft")], "chosen", { "aria-label": "What was said, and what is stored", tabindex: "-1" });
  box.replaceChildren(form, said, element("div", [element("section", [element("h3", "Memories"), left]), element("section", [element("h3", "Conversations"), right])], "halves"), open);
  let conversations = [], memories = [];

  function lacking(one) {
    if (one.lost === undefined) {
      const known = new Set(memories.filter((m) => conversations[m.from] === one || one.claims.has(m.place)).flatMap((m) => wordsOf(m.said).map(({ word }) => word)));
      const all = wordsOf(one.said);
      one.lost = all.filter(({ word }) => !known.has(word));
      one.share = all.length ? one.lost.length / all.length : 0;
    }
    return one;
  }
  function pair(one, mine) {
    const list = element("dl");
    if (one) field(list, "said", inMarks(one.said, lacking(one).lost.map(({ from, to }) => [from, to]), "lost"));
    else field(list, "said", "no conversation that the record holds");
    for (const m of mine) field(list, "memory " + (m.place + 1) + (m.id ? " " + m.id : ""), m.said);
    if (!mine.length) field(list, "stored", "no memory came from it");
    open.replaceChildren(list);
  }
  const memoryList = virtualList(left, "Memories", (m) => [element("span", m.said, "one"),
    element("small", (m.facts ? "needed by " + m.facts + (m.facts > 1 ? " facts" : " fact") : "unclaimed") + "; " +
      (m.from < 0 ? "from no recorded conversation" : m.how + ": " + conversations[m.from].said), "soft one")], (m) => pair(m.from < 0 ? null : conversations[m.from], [m]));
  const saidList = virtualList(right, "Conversations", (one) => [element("span", one.said, "one"),
    element("small", percent(lacking(one).lost.length, wordsOf(one.said).length) + " of its words are in no memory from it", "soft one")],
    (one) => pair(one, memories.filter((m) => conversations[m.from] === one || one.claims.has(m.place))));

  function filter() {
    const wanted = get("mwords").toLowerCase(), chosen = get("kind");
    let found = memories.filter((m) => (wanted === "" || m.said.toLowerCase().includes(wanted)) &&
      (chosen === "" || (chosen === "orphan" ? m.from < 0 : (chosen === "used") === m.facts > 0)));
    if (get("order") === "from") found = [...found].sort((a, b) => a.from - b.from);
    if (get("order") === "long") found = [...found].sort((a, b) => b.said.length - a.said.length);
    memoryList.show(found);
    const unclaimed = memories.filter((m) => !m.facts).length;
    said.textContent = found.length + " of " + memories.length + " memories listed; " + unclaimed + " unclaimed (" + percent(unclaimed, memories.length) +
      "): no question of this record needs them. The record holds the " + conversations.length + " conversations that its questions ask about.";
  }
  function show() {
    const store = stores[Math.min(stores.length - 1, Number(get("store")) || 0)];
    const last = store.lists.length - 1, at = get("at") === "" ? last : Math.min(last, Number(get("at")) || 0);
    which.value = String(stores.indexOf(store));
    kind.value = get("kind"); order.value = get("order"); words.value = get("mwords");
    timeBox.hidden = last < 1;
    time.max = String(last); time.value = String(at);
    const { number, added, gone } = store.lists[at];
    timeSaid.textContent = "listing " + (at + 1) + " of " + (last + 1) + ": +" + added.length + " −" + gone.length;
    conversations = conversationsOf(store, number);
    memories = match(entriesAt(store, at), conversations);
    conversations.forEach(lacking);
    saidList.show([...conversations].sort((a, b) => b.share - a.share));
    filter();
  }
  which.addEventListener("input", () => { set({ store: which.value === "0" ? "" : which.value, at: "" }); show(); });
  time.addEventListener("input", () => { set({ at: time.value }); show(); });
  form.addEventListener("input", (event) => { if (event.target !== which && event.target !== time) { set({ kind: kind.value, order: order.value, mwords: words.value }); filter(); } });
  form.addEventListener("submit", (event) => event.preventDefault());
  return show;
}
