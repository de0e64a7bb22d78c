/**
 * A hand-written script over LanceDB for exactly this task: no recovery, no checks, no citations. It is the lower bound.
 * With HYBRID=1 it also searches keywords and fuses the ranks, as the library does.
 */
import { connect, Index } from "@lancedb/lancedb"
import { Field, FixedSizeList, Float32, makeData, Table, Utf8, Vector, vectorFromArray } from "apache-arrow"
import { createHash } from "node:crypto"
import { readdir, readFile } from "node:fs/promises"
import { join } from "node:path"
import { contest } from "./Contender.ts"

const DIMENSION = 384
const BATCH = 256
const hybrid = process.env.HYBRID === "1"

/** Splits at headings, then at paragraphs, into about 1,000 characters. */
const cut = (text) => {
  const passages = []
  let current = ""
  for (const block of text.split("\n\n")) {
    if (current !== "" && (block.startsWith("#") || current.length + block.length > 1000)) {
      passages.push(current)
      current = ""
    }
    current += `${block}\n\n`
  }
  if (current.trim() !== "") passages.push(current)
  return passages
}

await contest(async ({ data, docs, gateway }) => {
  const post = async (path, body) => {
    const answer = await fetch(`${gateway}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body)
    })
    return answer.json()
  }
  const embed = async (input) => {
    const { data } = await post("/v1/embeddings", { model: "peers", input, encoding_format: "base64" })
    const vectors = new Float32Array(input.length * DIMENSION)
    for (const { embedding, index } of data) {
      const bytes = Buffer.from(embedding, "base64")
      vectors.set(new Float32Array(bytes.buffer, bytes.byteOffset, DIMENSION), index * DIMENSION)
    }
    return vectors
  }
  const vectorType = new FixedSizeList(DIMENSION, new Field("item", new Float32(), true))
  const arrow = (rows, vectors) => {
    const child = makeData({ type: new Float32(), length: vectors.length, data: vectors })
    const list = makeData({ type: vectorType, length: rows.length, child })
    const columns = {
      path: vectorFromArray(
        rows.map(({ path }) => path),
        new Utf8()
      ),
      hash: vectorFromArray(
        rows.map(({ hash }) => hash),
        new Utf8()
      ),
      text: vectorFromArray(
        rows.map(({ text }) => text),
        new Utf8()
      ),
      vector: new Vector([list])
    }
    return new Table(columns)
  }
  const database = await connect(join(data, "script"))
  let table
  return {
    ingest: async () => {
      const known = new Map()
      if (table !== undefined) {
        for (const { hash, path } of await table.query().select(["path", "hash"]).toArray())
          known.set(path, hash)
      }
      const files = (await readdir(docs, { recursive: true }))
        .filter((file) => file.endsWith(".md"))
        .toSorted()
      let rows = []
      let waiting = Promise.resolve()
      let changed = false
      const flush = async () => {
        const batch = rows
        rows = []
        if (batch.length === 0) return
        changed = true
        const parts = []
        for (let i = 0; i < batch.length; i += BATCH) parts.push(batch.slice(i, i + BATCH))
        const embedded = await Promise.all(parts.map((part) => embed(part.map(({ text }) => text))))
        const vectors = new Float32Array(batch.length * DIMENSION)
        embedded.forEach((own, i) => vectors.set(own, i * BATCH * DIMENSION))
        await waiting
        const written = arrow(batch, vectors)
        waiting =
          table === undefined
            ? database.createTable("passages", written).then((made) => (table = made))
            : table.add(written)
        if (table === undefined) await waiting
      }
      for (const path of files) {
        const bytes = await readFile(join(docs, path))
        const hash = createHash("sha256").update(bytes).digest("hex")
        if (known.get(path) === hash) continue
        for (const text of cut(bytes.toString())) rows.push({ path, hash, text })
        if (rows.length >= 4 * BATCH) await flush()
      }
      await flush()
      await waiting
      if (changed) {
        const count = await table.countRows()
        await table.createIndex("vector", {
          config: Index.ivfFlat({ distanceType: "cosine", numPartitions: Math.round(Math.sqrt(count)) })
        })
        if (hybrid) await table.createIndex("text", { config: Index.fts() })
      }
      return table.countRows()
    },
    query: async (question) => {
      const vector = await embed([question])
      const nearest = table
        .query()
        .nearestTo(vector)
        .distanceType("cosine")
        .nprobes(20)
        .limit(20)
        .select(["path", "text", "_distance"])
        .toArray()
      const matching = hybrid
        ? table.query().fullTextSearch(question).limit(20).select(["path", "text", "_score"]).toArray()
        : Promise.resolve([])
      const fused = new Map()
      for (const found of await Promise.all([nearest, matching])) {
        found.forEach(({ path, text }, rank) => {
          const one = fused.get(text) ?? { path, text, score: 0 }
          one.score += 1 / (60 + rank)
          fused.set(text, one)
        })
      }
      const recalled = [...fused.values()].toSorted((a, b) => b.score - a.score).slice(0, 20)
      const { results } = await post("/v1/rerank", {
        model: "peers",
        query: question,
        documents: recalled.map(({ text }) => text),
        top_n: 3
      })
      return results.map(({ index }) => recalled[index].path)
    }
  }
})
