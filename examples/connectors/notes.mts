// A memory in TypeScript: every message is a note; the notes that share the most words with the question come back.
// Reads one JSON request a line, and answers each with a line. Run it with memory.yaml beside it.
import { createInterface } from "node:readline";

type Message = { role: string; content: string; timestamp?: string };
type Note = { id: string; text: string; timestamp?: string };
type Request = {
  id: number;
  method: "open" | "store" | "retrieve" | "list";
  conversation?: { id: string; timestamp?: string; messages: Message[] };
  query?: string;
  k?: number;
};

const notes: Note[] = [];
const words = (text: string): Set<string> => new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []);

function answer(request: Request): object {
  switch (request.method) {
    case "open":
      return { name: "notes.mts", version: "1" };
    case "store": {
      const { id, timestamp, messages } = request.conversation!;
      messages.forEach((message, i) => {
        if (message.content.trim()) {
          notes.push({ id: `${id}-${i}`, text: message.content, timestamp: message.timestamp ?? timestamp });
        }
      });
      return {};
    }
    case "retrieve": {
      const asked = words(request.query!);
      const ranked = notes.map((note) => ({ ...note, score: [...words(note.text)].filter((w) => asked.has(w)).length }));
      return { memories: ranked.filter((note) => note.score > 0).sort((a, b) => b.score - a.score).slice(0, request.k) };
    }
    case "list":
      return { memories: notes };
    default:
      return { error: `unknown method ${request.method}` };
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line) as Request;
  process.stdout.write(JSON.stringify({ id: request.id, ...answer(request) }) + "\n");
}
