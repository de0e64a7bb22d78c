/** The embedded models on one core: embed texts of 1 KB, rerank 20 documents, read 3 passages. */
import { embedText, readSentences, rerankScores } from "@sluice/embedded"
import { type Bench, percentile, rounded } from "./Bench.ts"
import { make } from "./corpus/Corpus.ts"

const milliseconds = (run: () => void): number => {
  const started = performance.now()
  run()
  return performance.now() - started
}

export const bench: Bench = async ({ quick }) => {
  const count = quick ? 500 : 10_000
  const corpus = make(1)
  const texts: Array<string> = []
  for (let i = 0; texts.length < count; i++) {
    const { text } = corpus.document(i)
    for (let from = 0; from + 1024 <= text.length; from += 1024) texts.push(text.slice(from, from + 1024))
  }
  texts.length = count
  const documents = texts.map((text) => ({ title: text.slice(0, 40), text }))
  for (const text of texts.slice(0, 200)) embedText(text)
  const embedding = milliseconds(() => texts.forEach((text) => embedText(text)))

  const samples = Array.from({ length: quick ? 20 : 300 }, (_, i) => {
    const candidates = documents.slice(i, i + 20)
    const query = corpus.question(i)
    return {
      rerank: milliseconds(() => rerankScores(query, candidates)),
      read: milliseconds(() => readSentences(query, candidates.slice(0, 3)))
    }
  })
  const rerank = samples.map((sample) => sample.rerank)
  const read = samples.map((sample) => sample.read)
  return {
    "embed texts of 1 KB (texts/s)": rounded((1000 * count) / embedding, 0),
    "rerank 20 documents of 1 KB p50 (ms)": rounded(percentile(rerank, 0.5)),
    "rerank 20 documents of 1 KB p95 (ms)": rounded(percentile(rerank, 0.95)),
    "read 3 passages of 1 KB p50 (ms)": rounded(percentile(read, 0.5)),
    "read 3 passages of 1 KB p95 (ms)": rounded(percentile(read, 0.95))
  }
}
