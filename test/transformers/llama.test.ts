/** The reader by a chat model without the library, and with a tiny model if it is installed. */
import { assert, describe, it } from "@effect/vitest"
import { Reader } from "@sluice/core"
import type { ReaderPart, ReaderPassage } from "@sluice/core/models"
import { LlamaReader } from "@sluice/transformers"
import { Effect, Stream } from "effect"
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll } from "vitest"
import { type ChatReply, writeResponse } from "../../packages/transformers/src/ChatModel.ts"
import { llamaLibrary } from "./PeerLibrary.ts"
import { tinyChatModel } from "./TinyChatModel.ts"

const folder = mkdtempSync(join(tmpdir(), "sluice-llama-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const write = (name: string, content: string | Uint8Array): string => {
  writeFileSync(join(folder, name), content)
  return join(folder, name)
}

const PASSAGES: ReadonlyArray<ReaderPassage> = [
  { title: "Boiler", text: "The boiler must be inspected every spring." },
  { title: "Refunds", text: "Die Rückzahlung erfolgt binnen 14 Tagen – für „alle“ Käufe." }
]

const read = (question = "Wann?") =>
  Reader.use((reader) => Stream.runCollect(reader.read(question, PASSAGES)))

const scriptOf = (script: string) => `data:text/javascript,${encodeURIComponent(script)}`

/** A file that is not a model, and what the library does when it loads it. */
const failing = (script: string) => ({
  model: write("not-a-model.gguf", "no model"),
  library: scriptOf(`export const getLlama = async () => { ${script} }`)
})

describe("a chat model", () => {
  const failureOf = (options: LlamaReader.LlamaReaderOptions) =>
    Effect.flip(read()).pipe(Effect.provide(LlamaReader.layer(options)))

  it.live("runs in a process of its own, below the program's priority", () =>
    Effect.gen(function* () {
      const script = `throw new Error("process " + process.pid + ", " + (await import("node:os")).getPriority())`
      const { message } = yield* failureOf(failing(script))
      const [, pid, priority] = /process (\d+), (\d+)/.exec(message) ?? []
      assert.notStrictEqual(Number(pid), process.pid)
      assert.isAbove(Number(priority), 0)
    })
  )

  it.live("that ends its process fails, and the program goes on", () =>
    Effect.gen(function* () {
      const error = yield* failureOf(failing("process.abort()"))
      assert.strictEqual(error.reason._tag, "ServerFailure")
      assert.include(error.message, "The process of the model ended")
    })
  )

  it.live("says what to install, and which file is missing", () =>
    Effect.gen(function* () {
      const { model } = failing("")
      const absent = yield* failureOf({ model, library: "no-such-package" })
      assert.deepInclude(absent.reason, { _tag: "ServerFailure", status: 503, isRetryable: false })
      assert.include(absent.message, "npm install node-llama-cpp")
      const other = yield* failureOf({ model, library: scriptOf("export {}") })
      assert.include(other.message, "is another one")
      assert.include((yield* failureOf({ model: join(folder, "none.gguf") })).message, "ENOENT")
    })
  )

  it.live("that does not fit into memory is refused with advice, and not read", () =>
    Effect.gen(function* () {
      const model = write("large.gguf", "")
      // Its size only: the file takes no space.
      truncateSync(model, 4e12)
      const error = yield* failureOf({ model, library: failing("process.abort()").library })
      assert.strictEqual(error.reason._tag, "ServerFailure")
      assert.match(error.message, /takes about 8000\.0 GB of memory, and \d+\.\d GB is available/)
      assert.include(error.message, "such as small")
    })
  )
})

// Skipped: the library is installed only when asked for; llama-peer/README.md says how.
describe.skipIf(llamaLibrary === undefined)("through the library", () => {
  const layerOf = (written: string, options: Partial<LlamaReader.LlamaReaderOptions> = {}) =>
    LlamaReader.layer({
      model: write(`${written.length}.gguf`, tinyChatModel(written)),
      library: llamaLibrary!,
      ...options
    })
  const answerOf = (text: string, quote: string) =>
    JSON.stringify({ answered: true, sentences: [{ text, citations: [{ passage: 2, quote }] }] })
  const QUOTE = "Die Rückzahlung erfolgt binnen 14 Tagen – für „alle“ Käufe."
  const TEXT = "Binnen 14 Tagen – für alle Käufe."
  const end = (parts: ReadonlyArray<ReaderPart>) => {
    const last = parts.at(-1)
    return last?.type === "end" ? last : assert.fail("The reading has no end.")
  }

  it.live("answers with a cited sentence, streamed, whose characters are whole", () =>
    Effect.gen(function* () {
      const parts = yield* read()
      const texts = parts.flatMap((part) => (part.type === "text" ? [part.text] : []))
      assert.isAbove(texts.length, 2)
      assert.strictEqual(texts.join(""), TEXT)
      assert.deepStrictEqual(
        parts.filter(({ type }) => type === undefined),
        [{ text: TEXT, evidence: [{ passage: 1, quote: QUOTE }] }]
      )
      const { calls, notRead, tokens } = end(parts)
      assert.deepStrictEqual([calls, notRead], [1, undefined])
      assert.isAbove(tokens, 100)
      // The instructions of the request before are not computed again, with the same answer.
      assert.deepStrictEqual(yield* read(), parts)
    }).pipe(Effect.provide(layerOf(answerOf(TEXT, QUOTE))))
  )

  it.live("has no answer if the model says so", () =>
    Effect.gen(function* () {
      const parts = yield* read()
      assert.deepStrictEqual(
        parts.map(({ type }) => type),
        ["end"]
      )
      assert.notProperty(end(parts), "notRead")
    }).pipe(Effect.provide(layerOf('{"answered":false,"sentences":[]}')))
  )

  it.live("is asked again for a quote that is in no passage, and then not believed", () =>
    Effect.gen(function* () {
      const parts = yield* read()
      assert.deepInclude(end(parts), { calls: 2 })
      assert.strictEqual(end(parts).notRead?.reason, "unproven")
    }).pipe(Effect.provide(layerOf(answerOf("In ten days.", "Paid in ten working days by cheque."))))
  )

  it.live("stops at the most tokens, and at its window", () =>
    Effect.gen(function* () {
      const written = answerOf(TEXT, QUOTE)
      const few = yield* read().pipe(Effect.provide(layerOf(written, { maxTokens: 3 })))
      assert.strictEqual(end(few).notRead?.reason, "truncated")
      const error = yield* Effect.flip(read("x".repeat(9_000))).pipe(
        Effect.provide(layerOf(written, { window: 4096 }))
      )
      assert.strictEqual(error.reason._tag, "InvalidRequest")
      assert.match(error.message, /has \d+ tokens, and the model reads 4096/)
    })
  )

  it.live("writes nothing more when it is interrupted, and answers the next question", () =>
    Effect.gen(function* () {
      const model = write("stop.gguf", tinyChatModel(answerOf(TEXT, QUOTE)))
      const replies: Array<ChatReply> = []
      const request = {
        options: { model, library: llamaLibrary! },
        messages: [{ type: "user" as const, text: "Wann?" }],
        schema: undefined,
        maxTokens: 100
      }
      yield* Effect.promise(() =>
        writeResponse(
          request,
          () => replies.length < 2,
          (reply) => replies.push(reply)
        )
      )
      // The second part was on its way.
      assert.deepInclude(replies.at(-1), { finishReason: "stop", completionTokens: 2 })
      yield* Effect.gen(function* () {
        const reader = yield* Reader
        const first = yield* Stream.runCollect(Stream.take(reader.read("Wann?", PASSAGES), 1))
        assert.deepStrictEqual(first[0]?.type, "text")
        const whole = yield* read()
        assert.isTrue(whole.some((part) => part.type === undefined && part.text === TEXT))
      }).pipe(Effect.provide(LlamaReader.layer({ model, library: llamaLibrary! })))
    })
  )

  it.live("a damaged file fails, and the program goes on", () =>
    Effect.gen(function* () {
      const whole = tinyChatModel(answerOf(TEXT, QUOTE))
      const model = write("damaged.gguf", whole.subarray(0, whole.length / 2))
      const error = yield* Effect.flip(read()).pipe(
        Effect.provide(LlamaReader.layer({ model, library: llamaLibrary! }))
      )
      assert.include(error.message, "cannot be loaded")
    })
  )
})
