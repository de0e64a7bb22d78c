/** `sluice mcp`: the library's tools for programs that start it, over standard input and output. */
import type { Embedder, Reader, Reranker } from "@sluice/core"
import { Library, RagError } from "@sluice/rag"
import { PassageIndex } from "@sluice/rag/store"
import { Cause, Context, Effect, Exit, Fiber, Layer, Option } from "effect"
import { McpServer } from "effect/ai"
import { Command } from "effect/cli"
import { DEFAULT_COLLECTION } from "../../contract/Names.ts"
import { makeQuestionChecks } from "../../documents/Questions.ts"
import { MCP_OPTIONS, type McpDocuments, toolsLayer } from "../../mcp/Tools.ts"
import { dataFlag, docsFlag, examples } from "../library/Flags.ts"
import { ingestDocs } from "../library/IngestFolder.ts"
import { collectionsOf, modelsLayer, ownIndex, requireLibrary } from "../library/OpenLibrary.ts"
import { note } from "../output/Output.ts"

const noCollection = (name: string) =>
  new RagError({
    stage: "open",
    reason: "NotFound",
    message: `There is no collection "${name}". The tool \`list_documents\` names the collections`,
    document: name
  })

/** The documents of the data folder. Each call opens the library: a failure tells the assistant what to do. */
const makeFolderDocuments = Effect.gen(function* () {
  const models = yield* Effect.context<Embedder | Reranker | Reader>()
  const index = Context.get(yield* Layer.build(ownIndex), PassageIndex)
  const check = yield* makeQuestionChecks
  const collections = collectionsOf(index)
  const library = Effect.fnUntraced(function* (collection: string) {
    if (!(yield* collections).includes(collection)) return yield* noCollection(collection)
    return yield* Library.make({ collection }).pipe(
      Effect.provideService(PassageIndex, index),
      Effect.provideContext(models)
    )
  })
  const documents: McpDocuments<never> = {
    collections,
    library,
    prepare: (request) => check(request, library(request.collection ?? DEFAULT_COLLECTION)),
    withCost: (result) => result,
    messageOf: ({ message }) => message
  }
  return documents
})

export const mcpCommand = Command.make("mcp", { docs: docsFlag, data: dataFlag }, ({ data, docs }) =>
  Effect.gen(function* () {
    if (Option.isNone(docs)) yield* requireLibrary
    const documents = yield* makeFolderDocuments
    // A client waits seconds for the first response, and a large folder takes longer.
    yield* documents.library(DEFAULT_COLLECTION).pipe(
      Effect.flatMap((library) => ingestDocs(library, docs)),
      Effect.catch(({ message }) => note(`sluice: ${message}`)),
      Effect.forkScoped
    )
    const server = McpServer.layerStdio({ ...MCP_OPTIONS, registrations: toolsLayer(documents) })
    // The end of the input interrupts the server, and is no failure.
    const exit = yield* Effect.flatMap(Effect.forkChild(Layer.launch(server)), Fiber.await)
    if (Exit.isFailure(exit) && !Cause.hasInterruptsOnly(exit.cause)) return yield* exit
  }).pipe(Effect.scoped, Effect.provide(modelsLayer(data)))
).pipe(
  Command.withDescription("Serve the library to an assistant (Claude, Cursor, VS Code) over MCP on stdio"),
  examples({
    "sluice mcp": "Serve the library of this folder",
    "sluice mcp --docs ./docs": "Keep it up to date with a folder first"
  })
)
