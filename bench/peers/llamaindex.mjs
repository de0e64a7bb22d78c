/**
 * LlamaIndexTS as documented: documents, its sentence splitter, a VectorStoreIndex with its own vector store, upserts by
 * document, Cohere's rerank. In memory: when persisted, it writes its whole JSON for each document.
 */
import { CohereRerank } from "@llamaindex/cohere"
import { OpenAIEmbedding } from "@llamaindex/openai"
import {
  DocStoreStrategy,
  Document,
  Settings,
  storageContextFromDefaults,
  VectorStoreIndex
} from "llamaindex"
import { readdir, readFile } from "node:fs/promises"
import { join } from "node:path"
import { contest } from "./Contender.ts"

await contest(async ({ docs, gateway }) => {
  Settings.embedModel = new OpenAIEmbedding({ apiKey: "k", model: "peers", baseURL: `${gateway}/v1` })
  // About 1,000 characters of this text, as the others.
  Settings.chunkSize = 430
  Settings.chunkOverlap = 0
  const rerank = new CohereRerank({ apiKey: "k", model: "peers", baseUrl: gateway, topN: 3 })
  const storageContext = await storageContextFromDefaults({})
  let retriever
  return {
    ingest: async () => {
      const files = (await readdir(docs, { recursive: true }))
        .filter((file) => file.endsWith(".md"))
        .toSorted()
      const documents = await Promise.all(
        files.map(
          async (path) =>
            new Document({ text: await readFile(join(docs, path), "utf8"), id_: path, metadata: { path } })
        )
      )
      const index = await VectorStoreIndex.fromDocuments(documents, {
        storageContext,
        docStoreStrategy: DocStoreStrategy.UPSERTS
      })
      retriever = index.asRetriever({ similarityTopK: 20 })
      return Object.keys(Object.values(storageContext.vectorStores)[0].data.embeddingDict).length
    },
    query: async (question) => {
      const recalled = await retriever.retrieve({ query: question })
      const kept = await rerank.postprocessNodes(recalled, question)
      return kept.map(({ node }) => node.metadata.path)
    }
  }
})
