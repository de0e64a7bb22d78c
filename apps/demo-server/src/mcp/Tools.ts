/** The tools of the MCP server, over any documents. */
import { type Answer, type AskOptions, type LibraryService, RagError } from "@sluice/rag"
import { Effect, Layer } from "effect"
import { McpProtocol } from "effect/ai"
import { VERSION } from "../config/ServerConfig.ts"
import { DEFAULT_COLLECTION } from "../contract/Names.ts"
import type { QuestionRequest } from "../contract/Qa.ts"
import { documentPage } from "../documents/DocumentPage.ts"
import { breadcrumb } from "../libraries/Breadcrumb.ts"
import {
  AskArguments,
  CitedAnswer,
  DocumentList,
  GetPassageArguments,
  ListDocumentsArguments,
  Passages,
  SearchArguments
} from "./ToolSchemas.ts"
import { type AccessError, registerTool } from "./RegisterTool.ts"

/** The documents of a tool's caller. */
export interface McpDocuments<R> {
  /** The caller's collections; the default one is always among them. */
  readonly collections: Effect.Effect<ReadonlyArray<string>, AccessError, R>
  readonly library: (collection: string) => Effect.Effect<LibraryService, AccessError, R>
  /** Checks a question and the caller's permission. `isAnswered` is false for a search. */
  readonly prepare: (
    request: QuestionRequest,
    isAnswered: boolean
  ) => Effect.Effect<{ readonly library: LibraryService; readonly options: AskOptions }, AccessError, R>
  readonly withCost: <A extends object>(
    result: Effect.Effect<A, RagError>
  ) => Effect.Effect<A & { readonly cost?: number }, RagError, R>
  /** The message of an error, with advice for this way of access. */
  readonly messageOf: (error: AccessError) => string
}

const INSTRUCTIONS =
  "Answers questions from the user's own documents. `ask` returns an answer with a quoted source for every sentence; " +
  "`search` returns passages to read yourself. Cite the document and page of what you use."

/** Options of the server, for each transport. The newest protocol needs no session. */
export const MCP_OPTIONS = {
  name: "sluice",
  version: VERSION,
  instructions: INSTRUCTIONS,
  protocols: [
    McpProtocol.v2025_11_25,
    McpProtocol.v2025_06_18,
    McpProtocol.v2025_03_26,
    McpProtocol.v2026_07_28
  ]
} as const

const SEARCHED = 5
const LISTED = 50

const passageTexts = (passages: Passages["passages"]): string =>
  passages
    .map(
      (passage, at) =>
        `[${at + 1}] ${breadcrumb(passage.document.path, passage)} (${passage.id})\n${passage.text}`
    )
    .join("\n\n")

const answerText = ({ answer, citations, closest, notRead }: Answer): string =>
  [
    notRead === undefined ? answer : `${answer}\n(${notRead.message} ${notRead.advice})`,
    ...citations.map(
      (citation) =>
        `[${citation.n}] ${breadcrumb(citation.document, citation)} (${citation.passageId})\n“${citation.quote}”`
    ),
    passageTexts(closest.map(({ passage }) => passage))
  ]
    .join("\n\n")
    .trim()

const noPassage = (id: string) =>
  new RagError({
    stage: "retrieve",
    reason: "NotFound",
    message: `There is no passage ${id}. Use the identifier of a passage that \`search\` or \`ask\` returned`,
    document: id
  })

/** Registers the tools over some documents. Calls read the caller from their own context. */
export const toolsLayer = <R>({ collections, library, messageOf, prepare, withCost }: McpDocuments<R>) => {
  const search = registerTool(messageOf, {
    name: "search",
    title: "Search the documents",
    description:
      "Finds the passages that answer a question best, by meaning and by keywords. Use it to read sources yourself; use `ask` for an answer.",
    parameters: SearchArguments,
    result: Passages,
    run: Effect.fnUntraced(function* ({ limit = SEARCHED, query, ...where }) {
      const { library, options } = yield* prepare({ question: query, keep: limit, ...where }, false)
      const { kept, ...rest } = yield* withCost(library.retrieve(query, options))
      const text = passageTexts(kept) || "No passage matches. Use other words, or fewer filters"
      return { text, content: { ...rest, passages: kept } }
    })
  })
  const ask = registerTool(messageOf, {
    name: "ask",
    title: "Ask the documents",
    description:
      "Answers a question from the documents. Each sentence of the answer has a quoted source. Without an answer, it returns the closest passages.",
    parameters: AskArguments,
    result: CitedAnswer,
    run: Effect.fnUntraced(function* (request) {
      const { library, options } = yield* prepare(request, true)
      const answer = yield* withCost(library.ask(request.question, options))
      const { notRead, outcome } = answer
      if (outcome === "unread") {
        const message = notRead === undefined ? answer.answer : `${notRead.message} ${notRead.advice}`
        return yield* new RagError({ stage: "answer", reason: "Model", message })
      }
      const closest = answer.closest.map(({ passage }) => passage)
      return { text: answerText(answer), content: { ...answer, closest } }
    })
  })
  const getPassage = registerTool(messageOf, {
    name: "get_passage",
    title: "Read a passage",
    description: "Returns a passage by its identifier, with the passages around it.",
    parameters: GetPassageArguments,
    result: Passages,
    run: Effect.fnUntraced(function* ({ around = 0, collection = DEFAULT_COLLECTION, id }) {
      const [, document, ordinal] = /^([0-9a-f]{32})#(\d{1,9})$/.exec(id) ?? []
      if (document === undefined) return yield* noPassage(id)
      const all = yield* (yield* library(collection)).passages(document)
      const at = Number(ordinal)
      if (all.every((passage) => passage.ordinal !== at)) return yield* noPassage(id)
      const passages = all.filter((passage) => Math.abs(passage.ordinal - at) <= around)
      return { text: passageTexts(passages), content: { passages } }
    })
  })
  const listDocuments = registerTool(messageOf, {
    name: "list_documents",
    title: "List the documents",
    description: "Lists the documents of a collection by path, and the names of all collections.",
    parameters: ListDocumentsArguments,
    result: DocumentList,
    run: Effect.fnUntraced(function* (request) {
      const { collection = DEFAULT_COLLECTION, limit = LISTED, ...query } = request
      const all = yield* (yield* library(collection)).documents
      const page = documentPage(all, { ...query, limit })
      const { documents, next, total } = page
      const names = yield* collections
      const lines = documents.map(({ id, path, title }) => `${path}: ${title} (${id})`)
      const more = next === undefined ? [] : [`More: call again with after: ${JSON.stringify(next)}`]
      const counted = `${total} documents. Collections: ${names.join(", ")}`
      return { text: [counted, ...lines, ...more].join("\n"), content: { collections: names, ...page } }
    })
  })
  return Layer.effectDiscard(Effect.all([search, ask, getPassage, listDocuments]))
}
