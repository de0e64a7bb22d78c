/** A few of the hostile files, and texts for the models. All of them are in `npm run trials`. */
import { afterAll, beforeAll, it } from "vitest"
import { modelMonsters, monsters, readMonsters } from "../trials/monsters.ts"
import { makeLaw } from "../trials/monstersLaw.ts"

const NAMES = new Set([
  "md: tiny items",
  "md: a figure label and spaces",
  "html: alternative texts",
  "md: a title and tabs",
  "csv: rows",
  "csv: newlines",
  "csv: a long number",
  "xlsx: rows",
  "srt: open voices",
  "eml: parts in parts",
  "jsonl: records",
  "verify: sentences",
  "calculate: numbers"
])

/** Regular expressions are timed, not counted: to find one that takes the square of the length, the text must be long. */
const SIZES: Readonly<Record<string, number>> = { "srt: open voices": 400_000 }

let law: ReturnType<typeof makeLaw>
beforeAll(() => void (law = makeLaw()))
afterAll(() => law.stop())

const few = [
  ...[...monsters, ...readMonsters].filter(({ name }) => NAMES.has(name)),
  ...modelMonsters.filter(({ name }) => name.endsWith(": passages"))
]

it.each(few.map((monster) => [monster.name, monster] as const))("grows with the size: %s", (_, monster) =>
  law.assertLinear(monster, SIZES[monster.name] ?? 65_536)
)
