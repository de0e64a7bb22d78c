/** A call as shell: the key comes from the environment, and nothing that is in the call is run. */

/** A picture of a file, where a body has one. */
export class FileHere {
  readonly path: string
  constructor(path: string) {
    this.path = path
  }
}

const AUTHORIZATION = '-H "Authorization: Bearer $SLUICE_API_KEY"'

/** In single quotes nothing means anything but their end. */
const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

/** Characters of a body that fit into an argument everywhere: Linux takes 128 KiB, of which one may take four bytes. */
const LARGEST_ARGUMENT = 32_000

/** In a here-document these mean something. */
const inHereDocument = (text: string): string => text.replaceAll(/[\\$`]/g, "\\$&")

const typeOf = (path = ""): string =>
  (/\.(jpe?g|webp)$/i.exec(path)?.[1] ?? "png").toLowerCase().replace("jpg", "jpeg")

/** Keeps the places of files in JSON: a whole text of a character that nobody can write into a form. */
const PLACE = "\u0000"

/** `GET` of what stands at the address; `$` in it means a variable. */
export const get = (url: string, ...options: ReadonlyArray<string>): string =>
  ["curl", ...options, `"${url}"`, AUTHORIZATION].join(" ")

/** `POST` of a body. */
export const post = (url: string, body: object, ...options: ReadonlyArray<string>): string => {
  const files: Array<string> = []
  const json = JSON.stringify(
    body,
    (_, value: unknown) => (value instanceof FileHere ? (files.push(value.path), PLACE) : value),
    2
  )
  const head = [
    ["curl", ...options, quote(url)].join(" "),
    AUTHORIZATION,
    '-H "Content-Type: application/json"'
  ].join(" \\\n  ")
  if (files.length === 0 && json.length < LARGEST_ARGUMENT) return `${head} \\\n  -d ${quote(json)}`
  const [first = "", ...rest] = json.split(JSON.stringify(PLACE)).map(inHereDocument)
  const filled = rest.map(
    (part, at) =>
      `"data:image/${typeOf(files[at])};base64,$(base64 < ${quote(files[at] ?? "")} | tr -d '\\n')"${part}`
  )
  return `${head} \\\n  -d @- <<END\n${first}${filled.join("")}\nEND`
}
