/** `StoreChild.ts FOLDER NAME DOCUMENTS`: a process that writes its own documents, and one that all processes write. */
import { Effect } from "effect"
import { collectionIn, documentOf } from "./StoredDocuments.ts"

const [folder = "", name = "", documents = "0"] = process.argv.slice(2)

await Effect.gen(function* () {
  const collection = yield* collectionIn(folder)
  for (let i = 0; i < Number(documents); i++) {
    yield* collection.commit([
      documentOf(`${name} ${i}`, [`${name} first ${i}`, `${name} second ${i}`]),
      documentOf("everybody's", [`by ${name}`, `in round ${i}`])
    ])
  }
  yield* collection.settle
}).pipe(Effect.scoped, Effect.runPromise)
