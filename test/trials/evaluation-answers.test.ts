/** `sluice eval answers` against a chat server whose models behave as they are named. */
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import {
  type Behaviour,
  delta,
  events,
  json,
  LoopbackGateway,
  model,
  openAi
} from "../core/LoopbackGateway.ts"
import { sluiceHere } from "../cli/Launcher.ts"

const FEE = "Mooring a boat overnight costs twelve crowns."
const DOCUMENT = `# Harbour\n\n${FEE}\n\nThe harbour master measures the tide every hour.\n\nThe northern gate opens at six.\n`

const QUESTIONS = [
  { id: "fee", kind: "text", question: "What does mooring a boat overnight cost?", contains: ["twelve"] },
  { id: "tide", kind: "text", question: "How often is the tide measured?", contains: ["every hour"] },
  { id: "gate", kind: "text", question: "When does the northern gate open?", contains: ["six"] },
  { id: "none", kind: "none", question: "Quelle est la capitale du Portugal?" }
].map((question) => (question.kind === "none" ? question : { ...question, document: "harbour.md" }))

/** 50 tokens of the prompt and 9 of the response, or as many of the prompt as the model's name says. */
const ends = (name: string, finish_reason: string) => [
  { choices: [{ delta: {}, finish_reason }] },
  { choices: [], usage: { prompt_tokens: Number(/\d+/.exec(name)?.[0] ?? 50), completion_tokens: 9 } },
  "[DONE]"
]

const behave: Behaviour = (seen, response, nth) => {
  const name = String((seen.body as { readonly model?: string }).model)
  if (name.startsWith("broken")) return json(response, openAi({ message: "down" }), 400)
  if (name.startsWith("cut")) return events(response, [delta("Well, "), ...ends(name, "length")])
  if (name.startsWith("absent")) return events(response, [delta("NOT_FOUND"), ...ends(name, "stop")])
  if (name.startsWith("wrong")) {
    const text = "Mooring a boat overnight costs 13 crowns."
    const line = JSON.stringify({ text, citations: [{ passage: 1, quote: FEE }] })
    return events(response, [delta(line), ...ends(name, "stop")])
  }
  return model(seen, response, nth)
}

const MODELS = ["good", "absent", "absent2500", "cut", "wrong", "broken"]

const Folder = Layer.effectDiscard(
  Effect.gen(function* () {
    const { behave: script, url } = yield* LoopbackGateway
    const root = process.cwd()
    const folder = yield* Effect.promise(() => mkdtemp(join(tmpdir(), "sluice-eval-answers-")))
    const write = (name: string, text: string) => Effect.promise(() => writeFile(join(folder, name), text))
    yield* Effect.promise(() => mkdir(join(folder, "docs")))
    yield* write("docs/harbour.md", DOCUMENT)
    yield* write("questions.jsonl", QUESTIONS.map((question) => JSON.stringify(question)).join("\n"))
    yield* write(
      "prices.json",
      JSON.stringify({
        models: Object.fromEntries(
          MODELS.map((name) => [name, { inputPer1000Tokens: 1000, outputPer1000Tokens: 2000 }])
        )
      })
    )
    const models = MODELS.map((id) => ({ id, operation: "chat" }))
    yield* write("sluice.config.json", JSON.stringify({ upstreams: [{ id: "fake", url, models }] }))
    process.chdir(folder)
    const before = process.env["SLUICE_PRICES"]
    process.env["SLUICE_PRICES"] = join(folder, "prices.json")
    yield* Effect.addFinalizer(() =>
      Effect.promise(() => {
        process.chdir(root)
        if (before === undefined) delete process.env["SLUICE_PRICES"]
        else process.env["SLUICE_PRICES"] = before
        return rm(folder, { recursive: true, force: true })
      })
    )
    script(behave)
  })
)

const OWN = ["--docs", "docs", "--questions", "questions.jsonl"]

const compare = (models: string, ...args: ReadonlyArray<string>) =>
  Effect.promise(() => sluiceHere(["eval", "answers", "--models", models, ...OWN, ...args]))

layer(Layer.provideMerge(Folder, LoopbackGateway.layer))("sluice eval answers", (it) => {
  it.effect("compares models by answers, support, tokens and cost", () =>
    Effect.gen(function* () {
      const { code, stderr, stdout } = yield* compare(
        "good,wrong,embedded",
        "--json",
        "--report",
        "models.md"
      )
      assert.strictEqual(code, 0, stderr)
      const { comparisons, models, ran, spent, unpriced, verifier } = JSON.parse(stdout)
      assert.deepStrictEqual([ran, unpriced, verifier], [4, [], "sluice-lexical-verify"])
      const [good, wrong, embedded] = models
      assert.include(good.means, { right: 1, correct: 1, cited: 1, abstains: 1, supported: 1, tokens: 59 })
      assert.include(wrong.means, { right: 0, correct: 0, cited: 1, abstains: 0, supported: 0 })
      assert.include(embedded.means, { correct: 1, tokens: 0, usd: 0 })
      assert.isUndefined(embedded.means.supported)
      // 50 units for the prompt and 18 for the response, of which 500,000 are a dollar.
      assert.closeTo(good.usd, (4 * 68) / 500_000, 1e-9)
      assert.closeTo(spent, good.usd + wrong.usd, 1e-9)
      const [{ a, b, differences }] = comparisons
      assert.deepStrictEqual([a, b], ["wrong", "good"])
      assert.include(differences.right, { difference: -1, questions: 4 })
      assert.include(differences.abstains, { difference: -1, questions: 1 })
      const report = yield* Effect.promise(() => readFile("models.md", "utf8"))
      assert.match(report, /^\| good \| 1 \| 1 \| 1 \| 1 \| 1 \| 59 \|/m)
      assert.match(report, /^\| fee \| wrong \| What does mooring .* 13 crowns/m)
    })
  )

  it.effect("does not take a response that was not read for an abstention", () =>
    Effect.gen(function* () {
      const { code, stderr, stdout } = yield* compare("absent,cut,broken", "--json", "--concurrency", "2")
      assert.strictEqual(code, 0, stderr)
      assert.include(stderr, "broken failed: ")
      const [absent, cut, broken] = JSON.parse(stdout).models
      assert.deepStrictEqual([absent.means.abstains, absent.notRead], [1, {}])
      // The repair is counted.
      assert.deepStrictEqual([cut.means.abstains, cut.means.tokens, cut.notRead], [0, 118, { truncated: 4 }])
      assert.deepStrictEqual([broken.means.abstains, broken.usd, broken.notRead], [0, 0, { failed: 4 }])
    })
  )

  it.effect.each(["1", "4"])("stops before the budget is passed, with %s at once", (concurrency) =>
    Effect.gen(function* () {
      const { behave: script, seen } = yield* LoopbackGateway
      script(behave)
      const budget = ["--budget", "0.012", "--concurrency", concurrency]
      const { code, stderr, stdout } = yield* compare("absent2500", ...budget)
      assert.strictEqual(code, 0, stderr)
      assert.include(stdout, "1 of 4 questions were asked of each model, for 0.005036 USD.")
      assert.include(stdout, "Stopped: the next call might have passed the budget.")
      assert.strictEqual(seen.length, 1)
    })
  )

  it.effect("asks fewer questions, spread over all", () =>
    Effect.gen(function* () {
      const { stdout } = yield* compare("embedded", "--limit", "2", "--json")
      const { answers } = JSON.parse(stdout)
      assert.deepStrictEqual(
        answers.map(({ id }: { readonly id: string }) => id),
        ["tide", "none"]
      )
    })
  )

  it.effect("refuses an unknown model, an empty budget, and documents without questions", () =>
    Effect.gen(function* () {
      const unknown = yield* compare("good,other")
      assert.deepStrictEqual([unknown.code, unknown.stdout], [1, ""])
      assert.include(unknown.stderr, "No chat model other is configured. Write good, absent, ")
      assert.include((yield* compare("good", "--budget", "0")).stderr, "--budget must be above 0, not 0.")
      const alone = yield* Effect.promise(() =>
        sluiceHere(["eval", "answers", "--models", "good", "--docs", "docs"])
      )
      assert.include(alone.stderr, "--docs needs --questions")
    })
  )
})
