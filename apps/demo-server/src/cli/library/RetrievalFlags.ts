/** Flags that limit which passages may answer, and how many are retrieved. */
import { RagError, type RetrieveOptions } from "@sluice/rag"
import { Effect, Option } from "effect"
import { Flag } from "effect/cli"
import type { ShortFilter } from "../../contract/Filter.ts"
import { toFilter } from "../../documents/QuestionFilter.ts"

export const retrievalFlags = {
  document: Flag.String("document").pipe(
    Flag.withDescription("Only this document (its path), or a folder (ending in /). Repeatable"),
    Flag.atLeast(0)
  ),
  page: Flag.String("page").pipe(Flag.withDescription("Only these pages: 7, 3-9, or 3-"), Flag.optional),
  kind: Flag.Literals("kind", ["passage", "figure", "table"]).pipe(
    Flag.withDescription("Only passages of this kind. Repeatable"),
    Flag.atLeast(0)
  ),
  meta: Flag.KeyValuePair("meta").pipe(
    Flag.withDescription("KEY=VALUE: only documents with this metadata. Repeatable"),
    Flag.optional
  ),
  recall: Flag.Int("recall").pipe(Flag.withDescription("Passages to retrieve. Default 20"), Flag.optional),
  keep: Flag.Int("keep").pipe(
    Flag.withDescription("Passages to keep after reranking. Default 3"),
    Flag.optional
  )
}

interface RetrievalFlags {
  readonly document: ReadonlyArray<string>
  readonly page: Option.Option<string>
  readonly kind: ReadonlyArray<"passage" | "figure" | "table">
  readonly meta: Option.Option<Readonly<Record<string, string>>>
  readonly recall: Option.Option<number>
  readonly keep: Option.Option<number>
}

const malformed = (message: string) =>
  Effect.fail(new RagError({ stage: "retrieve", reason: "Malformed", message }))

const parsePages = (text: string) => {
  const [, from, dash, to] = /^(\d+)(-)?(\d+)?$/.exec(text.trim()) ?? []
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

/** Fails with `Malformed` for an invalid page range or count. */
export const parseRetrievalFlags = Effect.fn("cli.parseRetrievalFlags")(function* (flags: RetrievalFlags) {
  const filter: ShortFilter = {
    ...(flags.document.length > 0 ? { documents: flags.document } : {}),
    ...(flags.kind.length > 0 ? { kinds: flags.kind } : {}),
    ...(Option.isSome(flags.page) ? { pages: yield* parsePages(flags.page.value) } : {}),
    ...(Option.isSome(flags.meta)
      ? {
          metadata: Object.fromEntries(
            Object.entries(flags.meta.value).map(([key, value]) => [key, metadataValues(value)])
          )
        }
      : {})
  }
  for (const name of ["recall", "keep"] as const) {
    const count = Option.getOrElse(flags[name], () => 1)
    if (count < 1) return yield* malformed(`--${name} must be at least 1, not ${count}.`)
  }
  const condition = toFilter(filter)
  const options: RetrieveOptions = {
    ...(condition === undefined ? {} : { filter: condition }),
    ...(Option.isSome(flags.recall) ? { recall: flags.recall.value } : {}),
    ...(Option.isSome(flags.keep) ? { keep: flags.keep.value } : {})
  }
  return options
})
