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

// The conversations of a store, with what the facts of its questions quote of them, up to this listing.
function conversationsOf(store, number, isLast) {
  const found = new Map(store.sessions.map(([id, kept]) => [id, { id, kept, said: "", claims: new Set(), first: Infinity, memories: [] }]));
  for (const q of data.questions) {
    if (q.r !== store.r || q.task.split(".")[0] !== store.task || q.store !== store.store) continue;
    for (const fact of q.facts || []) {
      const one = found.get(fact.session);
      if (!one) continue;
      if (!one.said.includes(text(fact.source))) one.said += (one.said && "\n") + text(fact.source);
      one.first = Math.min(one.first, q.listing);
      if (fact.v !== "not_stored" && (q.listing === number || store.lists.length === 1)) for (const i of fact.entries) one.claims.add(i);
    }
  }
  return [...found.values()].map((one) => ({ ...one, here: isLast || one.first <= number }));
}

function storeView() {
  const stores = data.stores, box = byId("store-body");
  if (!stores.length) { box.replaceChildren(element("p", "The record holds no listing of a store.", "soft")); return () => {}; }
  const name = (store) => (data.labels.length > 1 ? data.labels[store.r] + ": " : "") + (store.store === store.task ? store.store : store.task + " " + store.store);
  const control = (id, label, made) => { made.id = id; return element("div", [element("label", label, null, { for: id }), made]); };
  const select = (options) => element("select", options.map(([value, label]) => element("option", label, null, { value })));
  const which = select(stores.map((store, i) => [String(i), name(store)]));
  const kind = select([["", "all"], ["used", "needed by a question"], ["unclaimed", "unclaimed: no question needs them"], ["orphan", "from no known conversation"]]);
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
  let conversations = [], memories = [], here = [];

  const titleOf = (one) => one.said || one.id;
  // The words that none of the memories from a conversation has, and their share. The record knows it for all words, even unquoted ones.
  function lacking(one, isLast) {
    const known = new Set(one.memories.flatMap((m) => wordsOf(m.said).map(({ word }) => word)));
    const all = wordsOf(one.said);
    one.lost = all.filter(({ word }) => !known.has(word));
    one.share = isLast ? one.kept : all.length ? 1 - one.lost.length / all.length : 0;
  }
  function pair(one, mine) {
    const list = element("dl");
    if (one) field(list, "said", one.said ? inMarks(one.said, one.lost.map(({ from, to }) => [from, to]), "lost") : one.id + ": no question quotes it");
    else field(list, "said", "no known conversation");
    for (const m of mine) field(list, "memory " + (m.place + 1) + (m.id ? " " + m.id : ""), m.said);
    if (!mine.length) field(list, "stored", "nothing");
    open.replaceChildren(list);
  }
  const plural = (n, noun) => n + " " + (n === 1 ? noun : noun.endsWith("y") ? noun.slice(0, -1) + "ies" : noun + "s");
  const memoryList = virtualList(left, "Memories", (m) => [element("span", m.said, "one"),
    element("small", (m.facts ? "needed by " + plural(m.facts, "fact") : "unclaimed") + "; " +
      (m.from.length ? (m.likely ? "likely from: " : "from: ") + m.from.map((i) => titleOf(conversations[i])).join(" / ") : "from no known conversation"), "soft one")],
    (m) => pair(conversations[m.from[0]], [m]));
  const saidList = virtualList(right, "Conversations", (one) => [element("span", titleOf(one), "one"),
    element("small", one.memories.length ? Math.round(100 * one.share) + " % of its words are kept, in " + plural(one.memories.length, "memory") : "nothing kept", "soft one")],
    (one) => pair(one, one.memories));

  function filter() {
    const wanted = get("mwords").toLowerCase(), chosen = get("kind");
    let found = memories.filter((m) => (wanted === "" || m.said.toLowerCase().includes(wanted)) &&
      (chosen === "" || (chosen === "orphan" ? !m.from.length : (chosen === "used") === m.facts > 0)));
    if (get("order") === "from") found = [...found].sort((a, b) => (a.from[0] ?? -1) - (b.from[0] ?? -1));
    if (get("order") === "long") found = [...found].sort((a, b) => b.said.length - a.said.length);
    memoryList.show(found);
    const unclaimed = memories.filter((m) => !m.facts).length;
    said.textContent = found.length + " of " + memories.length + " memories listed; " + unclaimed + " unclaimed (" + percent(unclaimed, memories.length) +
      "): no question of this record needs them. " + (conversations.length ? here.filter((one) => !one.memories.length).length + " of " +
      plural(here.length, "conversation") + " left nothing." : "The record does not say which conversations they came from.");
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
    conversations = conversationsOf(store, number, at === last);
    memories = entriesAt(store, at).map((memory, place) => ({ ...memory, place, said: text(memory.t), from: memory.from.filter((i) => conversations[i]),
      facts: conversations.filter((one) => one.claims.has(place)).length }));
    for (const mine of memories) for (const i of mine.from) { conversations[i].memories.push(mine); conversations[i].here = true; }
    here = conversations.filter((one) => one.here);
    for (const one of here) lacking(one, at === last);
    saidList.show([...here].sort((a, b) => a.share - b.share));
    filter();
  }
  which.addEventListener("input", () => { set({ store: which.value === "0" ? "" : which.value, at: "" }); show(); });
  time.addEventListener("input", () => { set({ at: time.value }); show(); });
  form.addEventListener("input", (event) => { if (event.target !== which && event.target !== time) { set({ kind: kind.value, order: order.value, mwords: words.value }); filter(); } });
  form.addEventListener("submit", (event) => event.preventDefault());
  return show;
}
