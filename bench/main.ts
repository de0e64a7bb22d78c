/**
 * `npm run -s bench -- NAME [--json] [--quick] [--with CONFIGURATION,…] [--model FOLDER]`: runs a benchmark and prints its figures with units.
 *
 * `main` runs `startup`, `size`, `ingest`, `query` and `memory`. The others run alone: `client`, `embedded` and `gateway`
 * (hot paths), `rendering` (latency while a film is rendered), `peers` (other libraries), `local` (neural
 * models), `million` (a million passages).
 */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { type Bench, say } from "./Bench.ts"

const load: Readonly<Record<string, () => Promise<{ readonly bench: Bench }>>> = {
  ingest: () => import("./ingest.ts"),
  query: () => import("./query.ts"),
  memory: () => import("./memory.ts"),
  startup: () => import("./startup.ts"),
  size: () => import("./size.ts"),
  client: () => import("./client.ts"),
  embedded: () => import("./embedded.ts"),
  gateway: () => import("./gateway.ts"),
  rendering: () => import("./rendering.ts"),
  peers: () => import("./peers.ts"),
  local: () => import("./local.ts"),
  million: () => import("./million.ts")
}
const MAIN = ["startup", "size", "ingest", "query", "memory"]

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    help: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
    model: { type: "string", multiple: true, default: [] },
    quick: { type: "boolean", default: false },
    with: { type: "string", multiple: true, default: [] }
  }
})
const name = positionals[0] ?? "main"
const chosen = name === "main" ? MAIN : [name]
const unknown = chosen.filter((one) => !(one in load))
if (positionals.length > 1 || unknown.length > 0) {
  say(
    `No such benchmark: ${positionals.slice(name in load ? 1 : 0).join(" ")}. Choose one of: main, ${Object.keys(load).join(", ")}`
  )
  process.exit(1)
}

/** The comment at the start of a benchmark. */
const purposeOf = (bench: string): string =>
  (/^\/\*\*(.*?)\*\//s.exec(readFileSync(join(import.meta.dirname, `${bench}.ts`), "utf8"))?.[1] ?? "")
    .replaceAll(/\s*\n \* ?/g, "\n  ")
    .trim()

if (values.help) {
  console.log("npm run -s bench -- NAME [--json] [--quick] [--with CONFIGURATION,…] [--model FOLDER]\n")
  console.log("--json   print the figures as one object")
  console.log("--model  the folder of a local model, once or more often")
  console.log("--quick  small sizes, to check that it runs: do not quote its figures")
  console.log(`\nmain runs ${MAIN.join(", ")}\n`)
  for (const one of name in load ? [name] : Object.keys(load)) console.log(`${one}\n  ${purposeOf(one)}\n`)
  process.exit(0)
}

const configurations = values.with.flatMap((names) => names.split(",")).filter((name) => name !== "")
const figures: Record<string, number> = {}
for (const one of chosen) {
  say(`bench ${one} …`)
  const found = await load[one]?.()
  if (found !== undefined)
    Object.assign(
      figures,
      await found.bench({ quick: values.quick, with: configurations, models: values.model })
    )
}

if (values.json) {
  console.log(JSON.stringify({ name, figures }, undefined, 2))
} else {
  const width = Math.max(...Object.keys(figures).map((key) => key.length))
  for (const [key, value] of Object.entries(figures)) console.log(`${key.padEnd(width)}  ${value}`)
}
