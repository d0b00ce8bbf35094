// Data, state and elements. Texts of memories and models are set as text only, never as markup.
const byId = (id) => document.getElementById(id);
let data;
const text = (i) => (i === null || i === undefined ? "" : data.texts[i]);

async function unpack() {
  const packed = atob(byId("data").textContent);
  const bytes = new Uint8Array(packed.length);
  for (let i = 0; i < packed.length; i++) bytes[i] = packed.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

function element(name, content, className, attributes) {
  const made = document.createElement(name);
  if (className) made.className = className;
  if (typeof content === "string") made.textContent = content;
  else if (content) made.append(...content);
  for (const [key, value] of Object.entries(attributes || {})) made.setAttribute(key, value);
  return made;
}

function button(label, act, className, attributes) {
  const made = element("button", label, className, { type: "button", ...attributes });
  made.addEventListener("click", act);
  return made;
}

const plain = (name) => name.replaceAll("_", " ");
const percent = (part, whole) => (whole ? Math.round((100 * part) / whole) + " %" : "-");

// The state is what the address says after "#", so that every view can be linked.
const state = new URLSearchParams(location.hash.slice(1));
const get = (name) => state.get(name) || "";

function set(changes) {
  for (const [name, value] of Object.entries(changes)) {
    if (value === "" || value === null) state.delete(name);
    else state.set(name, value);
  }
  history.replaceState(null, "", "#" + state);
}

function reload() {
  for (const name of [...state.keys()]) state.delete(name);
  for (const [name, value] of new URLSearchParams(location.hash.slice(1))) state.set(name, value);
}

// Return where a detail begins in a lower-case text, not within a word ("row" is not in "Harrow"); -1 if nowhere.
function placeOf(lower, detail) {
  if (!detail.trim()) return -1;
  const escaped = detail.toLowerCase().replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return lower.search(new RegExp((/^[a-z0-9]/i.test(detail) ? "(?<![a-z0-9\\u00c0-\\u024f])" : "") + escaped));
}

// Return the content with each detail in a mark; positions carry over only if lower case has the same length.
function marked(whole, details, className) {
  const lower = whole.toLowerCase();
  const spans = [];
  for (const detail of lower.length === whole.length ? details : []) {
    const at = placeOf(lower, detail);
    if (at >= 0) spans.push([at, at + detail.length]);
  }
  return inMarks(whole, spans, className);
}

function inMarks(whole, spans, className) {
  spans.sort((a, b) => a[0] - b[0]);
  const parts = [];
  let end = 0;
  for (const [from, to] of spans) {
    if (from < end) continue;
    parts.push(whole.slice(end, from), element("mark", whole.slice(from, to), className));
    end = to;
  }
  return [...parts, whole.slice(end)];
}

// Return the words of a text with their places.
const wordsOf = (whole) => [...whole.matchAll(/[\p{L}\p{N}]+(?:['’-][\p{L}\p{N}]+)*/gu)].map((found) => ({
  word: found[0].toLowerCase(), from: found.index, to: found.index + found[0].length,
}));
