/** The questions of this visit and what became of each. */
import { computed, effect, signal, untracked } from "@preact/signals"
import type { AnswerBody, AnswerStreamEvent, Citation, ShortFilter, Trace } from "../../contract/index.ts"
import { Failure, toFailure } from "../api/RequestError.ts"
import { online, requestEvents } from "../api/request.ts"
import { announce } from "../ui/announce.ts"
import { collection } from "../documents/collections.ts"
import { counted } from "../ui/counted.ts"
import { inWords, wireFilter } from "./filter.ts"
import { kept } from "../page/persisted.ts"
import { go, questionHref, route } from "../page/route.ts"
import { session } from "../page/session.ts"
import { refreshStatus } from "../page/status.ts"

export interface Asked {
  readonly question: string
  readonly collection: string
  readonly state: "asking" | "answered" | "failed"
  readonly stages: Trace["stages"]
  readonly passages: Trace["passages"]
  readonly sentences: AnswerBody["sentences"]
  readonly citations: ReadonlyArray<Citation>
  /** Figures that were looked at, and what was seen. */
  readonly looks: AnswerBody["figures"]
  /** What the answer was looked for in; absent: everywhere. */
  readonly filter?: ShortFilter
  /** The filter in words. */
  readonly within?: string
  readonly answer?: AnswerBody
  readonly failure?: Failure
  /** How often it was asked again by itself. */
  readonly again: number
}

/** What is being written. */
export const draft = kept("question", "")

/** Latest first; each question to a collection once. */
export const asked = signal<ReadonlyArray<Asked>>([])

type Key = Pick<Asked, "question" | "collection">

const isOf = (one: Key, other: Key): boolean =>
  one.question === other.question && one.collection === other.collection

const find = (key: Key): Asked | undefined => asked.value.find((each) => isOf(each, key))

/** What is shown now. */
export const current = computed(() => {
  const now = route.value
  if (now.view !== "ask" || now.question === undefined) return undefined
  return find({ question: now.question, collection: now.collection })
})

const change = (key: Key, changed: Partial<Asked>): void => {
  asked.value = asked.value.map((each) => (isOf(each, key) ? { ...each, ...changed } : each))
}

const following = new Map<string, AbortController>()

const nameOf = ({ collection, question }: Key): string => JSON.stringify([collection, question])

const onEvent = (key: Key, event: Exclude<AnswerStreamEvent, { type: "error" }>): void => {
  const now = find(key)
  if (now === undefined) return
  switch (event.type) {
    case "stage":
      return change(key, { stages: [...now.stages, event.stage] })
    case "recalled":
      return change(key, { passages: event.passages })
    case "looked":
      return change(key, { looks: [...now.looks, event.look] })
    case "sentence": {
      const known = new Set(now.citations.map(({ n }) => n))
      return change(key, {
        sentences: [...now.sentences, event.sentence],
        citations: [...now.citations, ...event.citations.filter(({ n }) => !known.has(n))]
      })
    }
    case "answer": {
      const { answer } = event
      const { citations, figures, sentences, trace } = answer
      return change(key, {
        answer,
        citations,
        looks: figures,
        sentences,
        stages: trace.stages,
        passages: trace.passages,
        state: "answered"
      })
    }
  }
}

const tell = ({ answer, failure }: Asked): void =>
  announce(
    failure !== undefined
      ? `The question failed. ${failure.message}`
      : answer?.found
        ? `Answered: ${counted(answer.sentences.length, "sentence")}, ${counted(answer.citations.length, "citation")}.`
        : "Nothing was found in the documents."
  )

/** What is asked: a question, of what. */
type Question = Key & Pick<Asked, "filter" | "within">

const run = async (key: Question, again = 0): Promise<void> => {
  const { collection, filter, question, within } = key
  const name = nameOf(key)
  following.get(name)?.abort()
  const controller = new AbortController()
  following.set(name, controller)
  const fresh: Asked = {
    question,
    collection,
    state: "asking",
    stages: [],
    passages: [],
    sentences: [],
    citations: [],
    looks: [],
    again,
    ...(filter !== undefined && { filter }),
    ...(within !== undefined && { within })
  }
  asked.value = [fresh, ...asked.value.filter((each) => !isOf(each, key))]
  announce("Asking.")
  try {
    await requestEvents<AnswerStreamEvent>(
      "/qa",
      { body: { question, collection, filter }, signal: controller.signal },
      (event) => onEvent(key, event)
    )
    if (find(key)?.state === "asking") throw new Error("The answer broke off before it was whole. Ask again.")
  } catch (thrown) {
    if (controller.signal.aborted) return
    const failure = toFailure(thrown)
    change(key, { state: "failed", failure })
    if (failure.code === "manifest_mismatch") void refreshStatus()
  }
  const done = find(key)
  if (done !== undefined) tell(done)
}

/** Of what is chosen now. */
const chosenNow = (question: string, collection: string): Question => {
  const filter = wireFilter.value
  return { question, collection, ...(filter !== undefined && { filter, within: inWords.value }) }
}

/** Asks, also when the same was asked before: the documents may have changed. */
export const ask = (text: string): void => {
  const question = text.trim().replaceAll(/\s+/g, " ")
  if (question === "") return
  void run(chosenNow(question, collection.value))
  go(questionHref(question, collection.value))
}

/** Asks the same of the same, whatever was chosen meanwhile. */
export const askAgain = (asked: Asked): void => void run(asked)

/** Gives it up; what has come of the answer stays. */
export const stopAsking = (key: Key): void => {
  following.get(nameOf(key))?.abort()
  change(key, { state: "failed", failure: new Failure("You stopped this question.", 0, "stopped") })
  announce("Stopped.")
}

/** A connection that comes and goes does not lose a question; one that always breaks here does not ask for ever. */
const MOST_AGAIN = 5

/** Whether it will be asked again by itself: it found no server, or no session. */
export const waits = ({ again, failure }: Asked): boolean =>
  again < MOST_AGAIN && (failure?.code === "offline" || failure?.status === 401)

effect(() => {
  if (!online.value || session.value !== "open") return
  untracked(() => {
    for (const each of asked.value.filter(waits)) void run(each, each.again + 1)
  })
})

// A link to a question asks it, once there is a session.
effect(() => {
  const now = route.value
  if (now.view !== "ask" || now.question === undefined || session.value !== "open") return
  const { collection, question } = now
  untracked(() => {
    if (find({ collection, question }) === undefined) void run(chosenNow(question, collection))
  })
})
