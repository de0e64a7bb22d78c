/** The public dialogues: their follow-ups as asked, completed with and without a model, and as people rewrote them. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { brotliDecompressSync } from "node:zlib"
import { apiKey, GatewayRewriter, type QuestionRewriter } from "@sluice/core"
import type { ConversationTurn } from "@sluice/core/models"
import { GatewayClient } from "@sluice/core/client"
import { Library, type LibraryService } from "@sluice/rag"
import { Effect, FileSystem, Layer } from "effect"
import { type Behaviour, delta, events, LoopbackGateway } from "../core/LoopbackGateway.ts"

export interface Turn {
  readonly question: string
  /** As a person rewrote it, if it needs that. */
  readonly standalone?: string
  /** Absent if it is the passage. */
  readonly answer?: string
  /** The passage that answers it. Without one, the turn is only history. */
  readonly passage?: string
}

export interface PublicDialogue {
  readonly id: string
  readonly language: "en" | "zh"
  readonly heldOut: boolean
  readonly turns: ReadonlyArray<Turn>
}

const linesOf = <A>(text: string): ReadonlyArray<A> =>
  text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as A)

const file = (name: string) => readFileSync(join(import.meta.dirname, name))

export const dialogues = linesOf<PublicDialogue>(file("public-dialogues.jsonl").toString())

const passages = new Map(
  linesOf<{ readonly id: string; readonly text: string }>(
    brotliDecompressSync(file("public-passages.jsonl.br")).toString()
  ).map(({ id, text }) => [id, text])
)

const answerOf = ({ answer, passage = "" }: Turn): string => answer ?? passages.get(passage) ?? ""

/** The turns before one, each as a person understood it. */
export const historyOf = (turns: ReadonlyArray<Turn>, before: number): ReadonlyArray<ConversationTurn> =>
  turns.slice(0, before).map((turn) => ({
    question: turn.question,
    ...(turn.standalone !== undefined && { standalone: turn.standalone }),
    answer: answerOf(turn)
  }))

/** A library of the passages that some dialogues are about, or of all. */
export const openLibrary = Effect.fn(function* (of: ReadonlyArray<PublicDialogue> = dialogues) {
  const folder = yield* (yield* FileSystem.FileSystem).makeTempDirectoryScoped()
  const library = yield* Library.open(folder)
  const named = new Set(of.flatMap(({ turns }) => turns.map(({ passage }) => passage)))
  const files = [...passages]
    .filter(([id]) => of === dialogues || named.has(id))
    .map(([id, text]) => ({ path: `${id}.md`, bytes: new TextEncoder().encode(text) }))
  yield* library.ingest({ files })
  return library
})

const words = new Intl.Segmenter(undefined, { granularity: "word" })

/** Leaves out the words of a question that a prompt does not hold, forms aside. */
const inWordsOf = (prompt: string, question: string): string => {
  const held = prompt.toLowerCase()
  return [...words.segment(question)]
    .filter(({ isWordLike, segment }) => {
      const stem = segment.toLowerCase().slice(0, Math.max(4, segment.length - 2))
      return isWordLike !== true || held.includes(stem)
    })
    .map(({ segment }) => segment)
    .join("")
}

/**
 * A chat model that knows how people rewrote the follow-ups, and reads its prompt: it finds the last question there, and says
 * only what it finds in the prompt. So a prompt without the history cannot be rewritten.
 */
const scriptedModel: Behaviour = ({ body }, response) => {
  const prompt = body.messages.at(-1)?.content ?? ""
  const question = JSON.parse(/^Last question: (".*")$/m.exec(prompt)?.[1] ?? '""') as string
  const opening = JSON.parse(/^Conversation:\n(\{.*)$/m.exec(prompt)?.[1] ?? "{}") as {
    readonly question?: string
  }
  const dialogue = dialogues.find(
    ({ turns }) => turns[0]?.question === opening.question && turns.some((turn) => turn.question === question)
  )
  const rewritten = dialogue?.turns.find((turn) => turn.question === question)?.standalone ?? question
  const text = JSON.stringify({ question: inWordsOf(prompt, rewritten) })
  events(response, [delta(text), { choices: [{ delta: {}, finish_reason: "stop" }] }, "[DONE]"])
}

/** The scripted model behind a server, asked with the real prompt. */
export const layerScripted: Layer.Layer<QuestionRewriter | LoopbackGateway> = Layer.unwrap(
  Effect.map(LoopbackGateway, ({ behave, url: baseUrl }) => {
    behave(scriptedModel)
    return Layer.provide(
      GatewayRewriter.layer({ model: "scripted" }),
      GatewayClient.layer({ baseUrl, apiKey: apiKey("k") })
    )
  })
).pipe(Layer.provideMerge(LoopbackGateway.layer), Layer.orDie)

/** Follow-ups whose passage is among the 20 retrieved. */
export interface Found {
  readonly followUps: number
  readonly byHand: number
  readonly asAsked: number
  readonly understood: number
  /** Follow-ups that were asked in other words, whether found or not. */
  readonly completed: number
}

const isFound = (
  {
    passages
  }: {
    readonly passages: ReadonlyArray<{ readonly passage: { readonly document: { readonly path: string } } }>
  },
  id: string
) => passages.some(({ passage }) => passage.document.path === `${id}.md`)

/** Asks the follow-ups of dialogues, each with the turns before it. */
export const measureFollowUps = Effect.fn(function* (
  library: LibraryService,
  of: ReadonlyArray<PublicDialogue>,
  onMiss: (question: string, standalone: string, understood: string) => void = () => {}
) {
  const found = { followUps: 0, byHand: 0, asAsked: 0, understood: 0, completed: 0 }
  for (const { turns } of of) {
    const history: Array<ConversationTurn> = []
    for (const turn of turns) {
      const { question, standalone } = turn
      const asked = yield* library.ask(question, { history })
      history.push({
        question,
        ...(asked.standalone !== undefined && { standalone: asked.standalone.question }),
        answer: answerOf(turn)
      })
      if (standalone === undefined || turn.passage === undefined) continue
      const byHand = isFound((yield* library.retrieve(standalone)).trace, turn.passage)
      const understood = isFound(asked.trace, turn.passage)
      found.followUps++
      if (asked.standalone !== undefined) found.completed++
      if (byHand) found.byHand++
      if (isFound((yield* library.retrieve(question)).trace, turn.passage)) found.asAsked++
      if (understood) found.understood++
      if (byHand && !understood) onMiss(question, standalone, asked.trace.question)
    }
  }
  return found satisfies Found
})

/** The first questions of dialogues, asked after another dialogue: how many are changed. */
export const measureStandalone = Effect.fn(function* (
  library: LibraryService,
  of: ReadonlyArray<PublicDialogue>
) {
  const changed: Array<string> = []
  for (const [i, { language, turns }] of of.entries()) {
    const question = turns[0]?.question ?? ""
    const others = [...of.slice(i + 1), ...of]
    const before = others.find((other) => other.language === language)?.turns ?? []
    const history = historyOf(before, before.length)
    if ((yield* library.ask(question, { history })).standalone !== undefined) changed.push(question)
  }
  return { asked: of.length, changed }
})
