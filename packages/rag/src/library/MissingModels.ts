/** Stand for a reranker and a reader that the program did not provide: they fail when they are used. */
import { GatewayError, Reader, Reranker } from "@sluice/core"
import { InvalidRequest } from "@sluice/core/contract"
import { Effect, Stream } from "effect"

const missing = (name: string, use: string) =>
  new GatewayError({
    operation: name.toLowerCase(),
    reason: new InvalidRequest({
      message: `This library was opened without a ${name}, and ${use}. Provide its layer where the library is opened, such as that of @sluice/embedded.`
    })
  })

export const missingReranker = Reranker.of({
  model: { id: "none", kind: "lexical", maxDocuments: Number.MAX_SAFE_INTEGER },
  rerank: () => Effect.fail(missing("Reranker", "retrieval orders passages by one"))
})

export const missingReader = Reader.of({
  model: { id: "none", kind: "extractive" },
  read: () => Stream.fail(missing("Reader", "an answer is read by one"))
})
