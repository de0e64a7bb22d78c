/** A thread that counts the operations of parsing and chunking files, and of the models: its counters are on before any module is compiled. */
import { Session } from "node:inspector/promises"
import { parentPort, workerData } from "node:worker_threads"
import type { Effect as EffectType } from "effect"
import type { Parsed } from "../../packages/rag/src/document/Document.ts"
import type { RagError } from "../../packages/rag/src/document/RagError.ts"
import type { InnerFile } from "../../packages/rag/src/formats/parsing/DocumentFormat.ts"

/** Characters of the longest text of each regular expression, if the program asks for them. */
const lengths = new Map<string, number>()
if (workerData?.recordsLengths === true) {
  const { exec } = RegExp.prototype
  // oxlint-disable-next-line no-extend-native -- every method of strings and expressions calls it
  RegExp.prototype.exec = function (this: RegExp, text: string) {
    // `split` makes an expression with the flag y.
    const name = `/${this.source}/${this.flags.replace("y", "")}`
    lengths.set(name, Math.max(lengths.get(name) ?? 0, text.length))
    return Reflect.apply(exec, this, [text])
  }
}

const session = new Session()
session.connect()
await session.post("Profiler.enable")
await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true })

const { Effect } = await import("effect")
const { chunkParse } = await import("../../packages/rag/src/chunking/ChunkedParse.ts")
const { formatOf } = await import("../../packages/rag/src/formats/DocumentFormats.ts")
const { parseHere } = await import("../../packages/rag/src/formats/Parser.ts")
const { runPdf } = await import("../../packages/rag/src/formats/pdf/worker/PdfWorker.ts")
const { embed, rankDocuments, read } = await import("../../packages/embedded/src/modelJobs.ts")
const { readConversation } = await import("../../apps/demo-server/src/embedded/Conversation.ts")
const { carrySubject, followsQuotes, isFollowUp, sharedWords } = await import("@sluice/core/text")
const { supportingSentence, unsupportedReason } = await import("../../packages/core/src/readers/Support.ts")
const { readLenientJson } = await import("../../packages/core/src/readers/LenientJson.ts")
const { splitQuestion } = await import("../../packages/rag/src/answering/SplitQuestion.ts")
const { checkSql } = await import("../../packages/rag/src/tables/SqlCheck.ts")
const { tableAnswer } = await import("../../packages/rag/src/tables/TableAnswer.ts")
const { nameWords } = await import("../../packages/rag/src/tables/TableRows.ts")
const { readableBlock } = await import("../../apps/demo-server/src/web/markdown/blocks.ts")
const { plainText, sentenceRuns } = await import("../../apps/demo-server/src/web/markdown/inline.ts")
const { bytesOf } = await import("./containerMonsters.ts")

const QUESTION = "When does gate 3 open, and how much is the toll?"

/** Passages of usual length. */
const passagesOf = (text: string) =>
  Array.from({ length: Math.ceil(text.length / 1600) }, (_, i) => ({
    title: "",
    text: text.slice(i * 1600, (i + 1) * 1600)
  }))

/** The models of the process, by the end of a path. */
const models: Readonly<Record<string, (text: string) => unknown>> = {
  embed: (text) => embed({ texts: [text], purpose: "passage" }),
  rerank: (text) => rankDocuments({ query: text, documents: passagesOf(text), options: undefined }),
  read: (text) => read({ question: QUESTION, passages: passagesOf(text) }),
  chat: (text) => readConversation([{ role: "user", content: text }]),
  verify: (text) => [
    unsupportedReason(text, text, text),
    followsQuotes(text, text),
    supportingSentence(text, text),
    readLenientJson(text)
  ],
  closest: (text) => sharedWords(text, text),
  page: (text) => [
    sentenceRuns(text, true),
    plainText(text, true),
    ...(["paragraph", "heading", "table", "code", "list"] as const).map((kind) =>
      readableBlock(text, "markdown" as never, { kind, start: 0, end: text.length } as never)
    )
  ],
  followUp: (text) => {
    const turns = [{ question: text, answer: text }]
    return [isFollowUp(text, turns), carrySubject(text, turns), splitQuestion(text)]
  },
  sql: (text) => checkSql(text, new Set(["t"])),
  calculate: (text) => {
    const [header = [], ...rows] = text.split("\n").map((line) => line.split("|"))
    const passages = passagesOf(text).slice(0, 20) as never
    const table = { path: "a.csv", header: header.slice(0, 200), rows, context: nameWords(text), passages }
    return ["sum", "highest", "average"].map((word) =>
      tableAnswer(`What is the ${word} of the length?`, [table])
    )
  }
}

const parseInner = (file: InnerFile): EffectType.Effect<Parsed, RagError> =>
  parseHere(formatOf(file.path)!, { ...file, parseInner })

const parse = async (path: string, bytes: Uint8Array): Promise<void> => {
  // Other threads read PDFs: their operations would not be counted.
  if (path.endsWith(".pdf")) {
    const task = {
      kind: "parse",
      bytes: Uint8Array.from(bytes),
      recognized: [],
      skip: [],
      undrawn: []
    } as const
    const { value } = await runPdf(task, { progress: () => {}, ask: () => Promise.reject(new Error()) })
    if (!("parsed" in value)) throw new Error(`it was not read: ${JSON.stringify(value)}`)
    await chunkParse(value.parsed, "crops")
    return
  }
  const parsed = await Effect.runPromise(Effect.option(parseInner({ path, bytes })))
  // A rejected file counts too.
  if (parsed._tag === "Some") await chunkParse(parsed.value, "crops")
}

/** How often each block of JavaScript ran since the last call, summed up. */
const takeOperations = async (): Promise<number> => {
  const { result } = await session.post("Profiler.takePreciseCoverage")
  const ranges = result.flatMap(({ functions }) => functions.flatMap((called) => called.ranges))
  return ranges.reduce((sum, { count }) => sum + count, 0)
}

parentPort?.on("message", ({ path, text }: { readonly path: string; readonly text: string }) => {
  void (async () => {
    const bytes = bytesOf(path, text)
    const model = models[path.slice(path.lastIndexOf(".") + 1)]
    await takeOperations()
    const started = process.threadCpuUsage()
    await (model === undefined ? parse(path, bytes) : model(text))
    const seconds = process.threadCpuUsage(started).user / 1e6
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    parentPort?.postMessage({ operations: await takeOperations(), seconds, lengths })
  })()
})
