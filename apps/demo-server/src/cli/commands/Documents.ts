/** `sluice list`, `sluice remove` and `sluice collections`: what the library has. */
import { Effect } from "effect"
import { Argument, Command } from "effect/cli"
import { resolveDocument } from "../library/FindDocument.ts"
import { dataFlag, examples, jsonFlag, libraryFlags } from "../library/Flags.ts"
import { plural, rejectServed } from "../library/IngestFolder.ts"
import { collectionNames, modelsLayer, withLibrary } from "../library/OpenLibrary.ts"
import { printResult } from "../output/Output.ts"

export const listCommand = Command.make("list", libraryFlags, ({ collection, data, json }) =>
  withLibrary({ collection, data }, function* (library) {
    const documents = yield* library.documents
    yield* printResult(json, { documents }, () =>
      documents.length === 0
        ? "No documents."
        : documents.map(({ passages, path }) => `${path} (${plural(passages, "passage")})`).join("\n")
    )
  })
).pipe(
  Command.withDescription("List the documents of the library by path"),
  examples({ "sluice list --collection harbour --json": "Print the documents of a collection as JSON" })
)

export const removeCommand = Command.make(
  "remove",
  {
    documents: Argument.String("document").pipe(
      Argument.withDescription("A document: its path, the end of its path, or its identifier"),
      Argument.variadic({ min: 1 })
    ),
    ...libraryFlags
  },
  ({ collection, data, documents, json }) =>
    withLibrary({ collection, data }, function* (library) {
      yield* rejectServed
      // All are found before the first is removed.
      const ids = yield* Effect.forEach(documents, (name) => resolveDocument(library, name))
      const removed = yield* Effect.forEach([...new Set(ids)], (id) => library.remove(id))
      yield* printResult(json, { removed }, () => removed.map(({ path }) => `removed ${path}`).join("\n"))
    })
).pipe(
  Command.withDescription("Remove documents from the library. The files that they were read from stay"),
  examples({ "sluice remove handbook/gates.md": "Remove a document" })
)

export const collectionsCommand = Command.make(
  "collections",
  { data: dataFlag, json: jsonFlag },
  ({ data, json }) =>
    Effect.gen(function* () {
      const names = yield* collectionNames
      yield* printResult(json, { collections: names }, () => names.join("\n"))
    }).pipe(Effect.scoped, Effect.provide(modelsLayer(data)))
).pipe(Command.withDescription("List the collections of the library"))
