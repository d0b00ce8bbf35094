// A list of any length: only the rows in sight are elements.
function virtualList(box, label, row, choose) {
  const HEIGHT = 52;
  const spacer = element("div", null, "spacer");
  const list = { items: [], at: -1 };
  box.replaceChildren(spacer);
  box.className = "list";
  for (const [name, value] of Object.entries({ role: "listbox", tabindex: "0", "aria-label": label })) box.setAttribute(name, value);

  function draw(all) {
    const first = all ? 0 : Math.max(0, Math.floor(box.scrollTop / HEIGHT) - 10);
    const last = Math.min(list.items.length, all || first + Math.ceil((box.clientHeight || 600) / HEIGHT) + 20);
    spacer.style.height = list.items.length * HEIGHT + "px";
    const rows = [];
    for (let i = first; i < last; i++) {
      const made = element("div", row(list.items[i]), "row", {
        role: "option", id: box.id + "-" + i, "aria-setsize": list.items.length, "aria-posinset": i + 1, "aria-selected": i === list.at,
      });
      made.style.top = i * HEIGHT + "px";
      made.addEventListener("click", () => list.go(i));
      rows.push(made);
    }
    spacer.replaceChildren(...rows);
    if (list.at >= first && list.at < last) box.setAttribute("aria-activedescendant", box.id + "-" + list.at);
    else box.removeAttribute("aria-activedescendant");
  }

  list.show = (items, at) => {
    list.items = items;
    list.at = at === undefined ? -1 : at;
    box.scrollTop = Math.max(0, list.at * HEIGHT - 100);
    draw();
  };
  list.go = (i) => {
    if (!list.items.length) return;
    list.at = Math.max(0, Math.min(list.items.length - 1, i));
    const top = list.at * HEIGHT;
    if (top < box.scrollTop) box.scrollTop = top;
    if (top + HEIGHT > box.scrollTop + box.clientHeight) box.scrollTop = top + HEIGHT - box.clientHeight;
    draw();
    choose(list.items[list.at]);
  };
  box.addEventListener("scroll", () => draw());
  box.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -1e9, End: 1e9 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    list.go(list.at + step);
  });
  window.addEventListener("beforeprint", () => draw(300));
  window.addEventListener("afterprint", () => draw());
  return list;
}
