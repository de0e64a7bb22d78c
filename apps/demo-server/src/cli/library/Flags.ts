/** Flags that several commands share. */
import { RagError, type RetrieveOptions } from "@sluice/rag"
import { RetrievalStages, retrieveOptionsSchema } from "@sluice/rag/retrieval"
import { Effect, Option, Record, Schema } from "effect"
import { Command, Flag } from "effect/cli"
import { toFilter } from "../../documents/QuestionFilter.ts"

export const optionalFlag = <A>(flag: Flag.Flag<A>, description: string) =>
  flag.pipe(Flag.withDescription(description), Flag.optional)

/** A whole number. Effect's own flag says of "x" only that it is not "a string representing a finite number". */
export const countFlag = (name: string, { least = 1, most = Number.MAX_SAFE_INTEGER } = {}) => {
  const range = most === Number.MAX_SAFE_INTEGER ? `${least} or more` : `from ${least} to ${most}`
  return Flag.String(name).pipe(
    Flag.withMetavar("integer"),
    Flag.filterMap(
      (text) =>
        Option.liftPredicate(
          Number(text),
          (value) => Number.isInteger(value) && value >= least && value <= most && text.trim() !== ""
        ),
      () => `a whole number, ${range}`
    )
  )
}

/** Example commands, each with what it does. */
export const examples = (descriptions: Readonly<Record<string, string>>) =>
  Command.withExamples(
    Object.entries(descriptions).map(([command, description]) => ({ command, description }))
  )

/** False unless it is given. */
export const booleanFlag = (name: string, description: string) =>
  Flag.Boolean(name).pipe(Flag.withDescription(description), Flag.withDefault(false))

/** With `--json` a command prints exactly one object on standard output: its result, or `{ "error": … }`. */
export const jsonFlag = booleanFlag("json", "Print the result as one JSON object")

export const dataFlag = optionalFlag(
  Flag.Directory("data"),
  "Library folder. Default: SLUICE_DATA, else .sluice"
)

export const collectionFlag = optionalFlag(Flag.String("collection"), "Collection. Default: default")

/** The flags of a command about the library. */
export const libraryFlags = { data: dataFlag, collection: collectionFlag, json: jsonFlag }

export const docsFlag = optionalFlag(Flag.Path("docs", { mustExist: true }), "Ingest this folder first")

/** Limit which passages may answer, and how many are retrieved. */
export const retrievalFlags = {
  document: Flag.String("document").pipe(
    Flag.withDescription("Only this document (its path), or a folder (ending in /). Repeatable"),
    Flag.atLeast(0)
  ),
  page: optionalFlag(Flag.String("page"), "Only these pages: 7, 3-9, or 3-"),
  kind: Flag.Literals("kind", ["passage", "figure", "table"]).pipe(
    Flag.withDescription("Only passages of this kind. Repeatable"),
    Flag.atLeast(0)
  ),
  meta: optionalFlag(Flag.KeyValuePair("meta"), "KEY=VALUE: only documents with this metadata. Repeatable"),
  recall: optionalFlag(countFlag("recall"), "Passages to retrieve. Default 20"),
  keep: optionalFlag(countFlag("keep"), "Passages to keep after reranking. Default 3"),
  option: optionalFlag(
    Flag.KeyValuePair("option"),
    "NAME=VALUE: another retrieval option, such as diversity=0.5. Repeatable"
  )
}

type RetrievalFlags = Command.Command.Config.Infer<typeof retrievalFlags>

const malformed = (message: string) =>
  Effect.fail(new RagError({ stage: "retrieve", reason: "Malformed", message }))

const parsePages = (text: string) => {
  const [, from, dash, to] = /^(\d+)(?:(-)(\d+)?)?$/.exec(text.trim()) ?? []
  const first = Number(from)
  const last = to === undefined ? (dash === undefined ? first : undefined) : Number(to)
  if (from === undefined || first < 1 || (last !== undefined && last < first))
    return malformed(`--page ${text} is not a page range. Write 7, 3-9, or 3- for page 3 to the end.`)
  return Effect.succeed({ from: first, ...(last === undefined ? {} : { to: last }) })
}

/** `2024` on the command line may mean a number or a string: both match. */
const metadataValues = (text: string): ReadonlyArray<string | number | boolean> => {
  if (text === "true" || text === "false") return [text, text === "true"]
  const number = Number(text)
  return text.trim() !== "" && Number.isFinite(number) ? [text, number] : [text]
}

const parseJson = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Json))

/** Options of the registered stages. A value that is not JSON is a string. */
const parseOptions = Effect.fnUntraced(function* (options: Readonly<Record<string, string>>) {
  const schema = retrieveOptionsSchema(yield* RetrievalStages)
  const values = Record.map(options, (text) => Option.getOrElse(parseJson(text), () => text))
  return yield* Schema.decodeUnknownEffect(schema)(values, { onExcessProperty: "error" }).pipe(
    Effect.catch(({ message }) => malformed(`--option: ${message}`))
  )
})

/** Fails with `Malformed` for an invalid page range. */
export const parseRetrievalFlags = Effect.fn("cli.parseRetrievalFlags")(function* (flags: RetrievalFlags) {
  const { document, kind, keep, meta, option, page, recall } = flags
  const filter = toFilter({
    ...(document.length > 0 ? { documents: document } : {}),
    ...(kind.length > 0 ? { kinds: kind } : {}),
    ...(Option.isSome(page) ? { pages: yield* parsePages(page.value) } : {}),
    ...(Option.isSome(meta) ? { metadata: Record.map(meta.value, metadataValues) } : {})
  })
  const options: RetrieveOptions = {
    ...(yield* parseOptions(Option.getOrElse(option, () => ({})))),
    ...(filter === undefined ? {} : { filter }),
    ...Record.getSomes({ recall, keep })
  }
  return options
})
