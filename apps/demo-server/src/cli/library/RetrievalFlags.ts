/** Flags for what a question may be answered from, and how it is looked for. */
import { RagError, type RetrieveOptions } from "@sluice/rag"
import { Effect, Option } from "effect"
import { Flag } from "effect/cli"
import type { ShortFilter } from "../../contract/Filter.ts"
import { toFilter } from "../../documents/QuestionFilter.ts"

export const flags = {
  document: Flag.String("document").pipe(
    Flag.withDescription(
      "Only this document: its path, or a folder of it with / at the end. May be repeated"
    ),
    Flag.atLeast(0)
  ),
  page: Flag.String("page").pipe(Flag.withDescription("Only this page, or these: 7, 3-9, 3-"), Flag.optional),
  kind: Flag.Literals("kind", ["passage", "figure", "table"]).pipe(
    Flag.withDescription("Only passages of this kind. May be repeated"),
    Flag.atLeast(0)
  ),
  meta: Flag.KeyValuePair("meta").pipe(
    Flag.withDescription("KEY=VALUE: only documents to which a program attached it. May be repeated"),
    Flag.optional
  ),
  recall: Flag.Int("recall").pipe(Flag.withDescription("Passages recalled. Default 20"), Flag.optional),
  keep: Flag.Int("keep").pipe(Flag.withDescription("Passages kept of them. Default 3"), Flag.optional)
}

interface Said {
  readonly document: ReadonlyArray<string>
  readonly page: Option.Option<string>
  readonly kind: ReadonlyArray<"passage" | "figure" | "table">
  readonly meta: Option.Option<Readonly<Record<string, string>>>
  readonly recall: Option.Option<number>
  readonly keep: Option.Option<number>
}

const malformed = (message: string) =>
  Effect.fail(new RagError({ stage: "retrieve", reason: "Malformed", message }))

const pagesOf = (said: string) => {
  const [, from, dash, to] = /^(\d+)(-)?(\d+)?$/.exec(said.trim()) ?? []
  const first = Number(from)
  const last = to === undefined ? (dash === undefined ? first : undefined) : Number(to)
  if (from === undefined || first < 1 || (last !== undefined && last < first))
    return malformed(`--page ${said} is no page: write 7, 3-9, or 3- for all from the third on.`)
  return Effect.succeed({ from: first, ...(last === undefined ? {} : { to: last }) })
}

/** On the command line `2024` may be meant as a number or as a text: both are looked for. */
const valuesOf = (said: string): ReadonlyArray<string | number | boolean> => {
  if (said === "true" || said === "false") return [said, said === "true"]
  const number = Number(said)
  return said.trim() !== "" && Number.isFinite(number) ? [said, number] : [said]
}

/** The flags as options of retrieval; fails with `Malformed`. */
export const optionsOf = Effect.fn("cli.retrieveOptions")(function* (said: Said) {
  const filter: ShortFilter = {
    ...(said.document.length > 0 ? { documents: said.document } : {}),
    ...(said.kind.length > 0 ? { kinds: said.kind } : {}),
    ...(Option.isSome(said.page) ? { pages: yield* pagesOf(said.page.value) } : {}),
    ...(Option.isSome(said.meta)
      ? {
          metadata: Object.fromEntries(
            Object.entries(said.meta.value).map(([key, value]) => [key, valuesOf(value)])
          )
        }
      : {})
  }
  for (const name of ["recall", "keep"] as const) {
    const count = Option.getOrElse(said[name], () => 1)
    if (count < 1) return yield* malformed(`--${name} ${count} is too few: at least 1.`)
  }
  const condition = toFilter(filter)
  const options: RetrieveOptions = {
    ...(condition === undefined ? {} : { filter: condition }),
    ...(Option.isSome(said.recall) ? { recall: said.recall.value } : {}),
    ...(Option.isSome(said.keep) ? { keep: said.keep.value } : {})
  }
  return options
})
