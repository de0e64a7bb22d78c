/**
 * LangChain.js as documented: a folder of files, its Markdown splitter, the indexing API with a record manager, its LanceDB
 * store, Cohere's rerank. The store lacks the `delete` that the indexing API needs; it is added here.
 */
import { connect } from "@lancedb/lancedb"
import { index } from "@langchain/classic/indexes"
import { CohereRerank } from "@langchain/cohere"
import { InMemoryRecordManager } from "@langchain/community/indexes/memory"
import { LanceDB } from "@langchain/community/vectorstores/lancedb"
import { Document } from "@langchain/core/documents"
import { OpenAIEmbeddings } from "@langchain/openai"
import { MarkdownTextSplitter } from "@langchain/textsplitters"
import { CohereClient } from "cohere-ai"
import { readdir, readFile } from "node:fs/promises"
import { join } from "node:path"
import { contest } from "./Contender.ts"

class DeletingLanceDB extends LanceDB {
  async addDocuments(documents, { ids } = {}) {
    return super.addDocuments(
      documents.map(
        (document, i) =>
          new Document({ pageContent: document.pageContent, metadata: { ...document.metadata, id: ids[i] } })
      )
    )
  }
  async delete({ ids }) {
    await this.table.delete(`id IN (${ids.map((id) => `'${id}'`).join(", ")})`)
  }
}

await contest(async ({ data, docs, gateway }) => {
  const embeddings = new OpenAIEmbeddings({
    apiKey: "k",
    model: "peers",
    configuration: { baseURL: `${gateway}/v1` }
  })
  const store = new DeletingLanceDB(embeddings, { uri: join(data, "langchain") })
  const recordManager = new InMemoryRecordManager("peers")
  const splitter = new MarkdownTextSplitter({ chunkSize: 1000, chunkOverlap: 0 })
  const rerank = new CohereRerank({
    model: "peers",
    topN: 3,
    client: new CohereClient({ token: "k", environment: gateway })
  })
  return {
    ingest: async () => {
      const files = (await readdir(docs, { recursive: true }))
        .filter((file) => file.endsWith(".md"))
        .toSorted()
      const documents = await Promise.all(
        files.map(
          async (source) =>
            new Document({ pageContent: await readFile(join(docs, source), "utf8"), metadata: { source } })
        )
      )
      // The splitter's lines of each chunk are nested metadata, of which the store would make a column.
      const passages = (await splitter.splitDocuments(documents)).map(
        ({ metadata, pageContent }) => new Document({ pageContent, metadata: { source: metadata.source } })
      )
      await index({
        docsSource: passages,
        recordManager,
        vectorStore: store,
        options: { cleanup: "incremental", sourceIdKey: "source" }
      })
      return (await (await connect(join(data, "langchain"))).openTable("langchain")).countRows()
    },
    query: async (question) => {
      const recalled = await store.similaritySearch(question, 20)
      const kept = await rerank.compressDocuments(recalled, question)
      return kept.map(({ metadata }) => metadata.source)
    }
  }
})
