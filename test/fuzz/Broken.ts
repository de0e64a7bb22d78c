/** Ways to break a valid request: in its values, its text and its headers. */
import type { Random } from "../../bench/corpus/Random.ts"

type Path = ReadonlyArray<string | number>

const nested = (depth: number, open: string, close: string) => open.repeat(depth) + close.repeat(depth)

/** JSON text to put in place of a value. Some of it, such as 1e999, cannot come from `JSON.stringify`. */
const odd = [
  () => "null",
  () => "true",
  () => "-1",
  () => "0",
  () => "1.5",
  () => "-0",
  () => "1e308",
  () => "1e400",
  () => "9007199254740993",
  () => "123456789012345678901234567890",
  () => '""',
  () => '" "',
  () => '"\\u0000"',
  () => '"\\ud800"',
  () => '"\\u202e\\ufeff\\u200b"',
  () => JSON.stringify("🚣‍♀️".repeat(300)),
  () => JSON.stringify("x".repeat(20_000)),
  () => JSON.stringify("'; DROP TABLE keys; --"),
  () => JSON.stringify("../../etc/passwd"),
  () => "[]",
  () => "{}",
  () => "[[[]]]",
  () => nested(500, "[", "]"),
  () => nested(8_000, "[", "]"),
  () => `${'{"a":'.repeat(5_000)}1${"}".repeat(5_000)}`,
  () => '{"__proto__":{"polluted":true}}',
  () => '{"constructor":{"prototype":{"polluted":true}}}',
  () => '{"toJSON":"x","toString":1,"valueOf":null,"then":{},"length":-1}',
  (random: Random) => JSON.stringify(Array.from({ length: random.between(1, 3000) }, () => "a")),
  () => "NaN",
  () => "'a'"
] as const satisfies ReadonlyArray<(random: Random) => string>

const oddNames = [
  "__proto__",
  "constructor",
  "toString",
  "hasOwnProperty",
  "",
  "\0",
  "extra",
  "$where",
  "水"
] as const

const paths = (value: unknown, at: Path = []): ReadonlyArray<Path> => {
  if (typeof value !== "object" || value === null) return [at]
  return [at, ...Object.entries(value).flatMap(([name, inside]) => paths(inside, [...at, name]))]
}

/** Replaces the JSON at one path. `undefined` removes it. */
const written = (value: unknown, at: Path | undefined, text: string | undefined): string => {
  const [step, ...rest] = at ?? []
  if (at !== undefined && step === undefined) return text ?? "null"
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null"
  const entries = Object.entries(value).filter(
    ([name]) => text !== undefined || rest.length > 0 || at === undefined || name !== step
  )
  const inside = (name: string, each: unknown) =>
    written(each, at !== undefined && name === step ? rest : undefined, text)
  return Array.isArray(value)
    ? `[${entries.map(([name, each]) => inside(name, each)).join(",")}]`
    : `{${entries.map(([name, each]) => `${JSON.stringify(name)}:${inside(name, each)}`).join(",")}}`
}

const somewhere = (value: unknown, random: Random): Path => {
  const all = paths(value)
  return all[random.between(0, all.length - 1)] ?? []
}

/** The body and headers of a request as sent. */
export interface Sent {
  readonly body: Uint8Array<ArrayBuffer> | string | undefined
  readonly headers: Readonly<Record<string, string>>
}

const JSON_HEADERS = { "content-type": "application/json" }

/** JSON with one or a few invalid values. */
export const brokenValue = (value: unknown, random: Random): Sent => {
  const roll = random.next()
  const place = somewhere(value, random)
  if (roll < 0.2) return { body: written(value, place, undefined), headers: JSON_HEADERS }
  const body = written(value, place, random.pick(odd)(random))
  if (roll < 0.8 || !body.startsWith("{")) return { body, headers: JSON_HEADERS }
  // One more name, at the end, so that it wins over an earlier one.
  const name = random.pick([...oddNames, String(place[0] ?? "model")])
  const more = `${JSON.stringify(name)}:${random.pick(odd)(random)}}`
  return { body: body === "{}" ? `{${more}` : `${body.slice(0, -1)},${more}`, headers: JSON_HEADERS }
}

const types = [
  "text/plain",
  "application/xml",
  "application/x-www-form-urlencoded",
  "multipart/form-data",
  "multipart/form-data; boundary=",
  `multipart/form-data; boundary=${"b".repeat(5000)}`,
  "multipart/form-data; boundary=b",
  "application/json; charset=utf-16",
  "application/octet-stream",
  "json",
  "*/*",
  "; ;"
] as const

/** Valid JSON with the wrong content type, truncated, or in another encoding. */
export const brokenText = (value: unknown, random: Random): Sent => {
  const text = JSON.stringify(value) ?? ""
  const cut = text.slice(0, random.between(0, Math.max(0, text.length - 1)))
  switch (random.between(0, 7)) {
    case 0:
      return { body: cut, headers: JSON_HEADERS }
    case 1:
      return { body: `${text}${random.pick(["}", ",", "\0", " []", text])}`, headers: JSON_HEADERS }
    case 2:
      return { body: `\ufeff${text}`, headers: JSON_HEADERS }
    case 3:
      return {
        body: Buffer.concat([Buffer.from(cut), Buffer.from([0xff, 0xc0, 0x80])]),
        headers: JSON_HEADERS
      }
    case 4:
      return { body: Buffer.from(text, "utf16le"), headers: JSON_HEADERS }
    case 5:
      return { body: undefined, headers: JSON_HEADERS }
    case 6:
      return { body: Buffer.from(text), headers: {} }
    default:
      return { body: text, headers: { "content-type": random.pick(types) } }
  }
}

const fileNames = ["a.md", "a.png", "", "../../a.md", "水.md", "a\u0000.md", `${"n".repeat(300)}.md`] as const

/** The fields as a form: valid parts, invalid parts, and parts that are files. */
export const asForm = (value: unknown, random: Random): FormData => {
  const form = new FormData()
  for (const [name, field] of Object.entries(
    typeof value === "object" && value !== null ? value : { value }
  )) {
    const text = typeof field === "string" ? field : JSON.stringify(field)
    const roll = random.next()
    if (roll < 0.1) form.append(name, new Blob([text ?? ""]), random.pick(fileNames))
    else if (roll < 0.15)
      form.append(`${name}[${random.pick(["image_url", "__proto__", "0", ""])}]`, text ?? "")
    else form.append(name, text ?? "")
    if (roll > 0.95) form.append(name, text ?? "")
  }
  return form
}

/** Files with unusual names and contents. */
export const oddFiles = (random: Random): FormData => {
  const form = new FormData()
  const contents = ["# A\n\nText.", "", "\0\0\0", "%PDF-1.7\n%%EOF", "<html><p>a", "\ud800"] as const
  for (let count = random.between(0, 3); count > 0; count--) {
    form.append(
      random.pick(["files", "file", "__proto__"]),
      new Blob([random.pick(contents)]),
      random.pick(fileNames)
    )
  }
  return form
}

/** Values for a path segment or query parameter. Some are badly escaped. */
export const oddText = [
  "%00",
  "%ff",
  "%zz",
  "%2e%2e%2fmodels",
  "..%252f",
  "__proto__",
  "%F0%9F%9A%A3",
  "1e999",
  "-1",
  "0x10",
  "NaN",
  "9".repeat(400),
  "a".repeat(3000),
  "%",
  "'%20OR%201=1--",
  "%25",
  "_"
] as const
