/** Calls as shell commands. The key comes from the environment. The shell runs nothing of the values in a call. */

/** A file in the JSON: its data URI takes its place. */
const isFile = (value: unknown): value is { readonly file: string } =>
  typeof value === "object" && value !== null && "file" in value

const AUTHORIZATION = '-H "Authorization: Bearer $SLUICE_API_KEY"'

/** In single quotes only the closing quote has a meaning. */
const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

/** Characters of an argument at most: Linux allows 128 KiB, and a character takes up to four bytes. */
const MAX_ARGUMENT = 32_000

const escapeHereDocument = (text: string): string => text.replaceAll(/[\\$`]/g, "\\$&")

const typeOf = (path = ""): string =>
  (/\.(jpe?g|webp)$/i.exec(path)?.[1] ?? "png").toLowerCase().replace("jpg", "jpeg")

/** Stands for a file in the JSON: a character that cannot be typed into a form. */
const PLACE = "\u0000"

/** A `GET` request. `$` in the URL starts a shell variable. */
export const curlGet = (url: string, ...options: ReadonlyArray<string>): string =>
  ["curl", ...options, `"${url}"`, AUTHORIZATION].join(" ")

export const curlPost = (url: string, body: object, ...options: ReadonlyArray<string>): string => {
  const files: Array<string> = []
  const json = JSON.stringify(
    body,
    (_, value: unknown) => (isFile(value) ? (files.push(value.file), PLACE) : value),
    2
  )
  const head = [
    ["curl", ...options, quote(url)].join(" "),
    AUTHORIZATION,
    '-H "Content-Type: application/json"'
  ].join(" \\\n  ")
  if (files.length === 0 && json.length < MAX_ARGUMENT) return `${head} \\\n  -d ${quote(json)}`
  const [first = "", ...rest] = json.split(JSON.stringify(PLACE)).map(escapeHereDocument)
  const filled = rest.map(
    (part, at) =>
      `"data:image/${typeOf(files[at])};base64,$(base64 < ${quote(files[at] ?? "")} | tr -d '\\n')"${part}`
  )
  return `${head} \\\n  -d @- <<END\n${first}${filled.join("")}\nEND`
}
