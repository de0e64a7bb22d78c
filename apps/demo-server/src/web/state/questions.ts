/** The questions of this visit and what became of each. */
import { computed, effect, signal, untracked } from "@preact/signals"
import type { Answer, AnswerEvent, Citation, Trace } from "../../contract/index.ts"
import { toFailure, type Failure } from "../api/Failure.ts"
import { requestEvents } from "../api/request.ts"
import { announce } from "./announce.ts"
import { counted } from "./counted.ts"
import { inWords, wireFilter } from "./narrowing.ts"
import { go, questionHref, route } from "./route.ts"
import { session } from "./session.ts"
import { refreshStatus } from "./status.ts"

export interface Asked {
  readonly question: string
  readonly state: "asking" | "answered" | "failed"
  readonly stages: Trace["stages"]
  readonly passages: Trace["passages"]
  readonly sentences: Answer["sentences"]
  readonly citations: ReadonlyArray<Citation>
  /** Figures that were looked at, and what was seen. */
  readonly looks: Answer["figures"]
  /** What the answer was looked for in, in words; absent: everywhere. */
  readonly within?: string
  readonly answer?: Answer
  readonly failure?: Failure
}

/** Latest first; each question once. */
export const asked = signal<ReadonlyArray<Asked>>([])

/** What is shown now. */
export const current = computed(() => {
  const now = route.value
  return now.view === "ask" ? asked.value.find(({ question }) => question === now.question) : undefined
})

const change = (question: string, changed: Partial<Asked>): void => {
  asked.value = asked.value.map((each) => (each.question === question ? { ...each, ...changed } : each))
}

const following = new Map<string, AbortController>()

const onEvent = (question: string, event: Exclude<AnswerEvent, { type: "error" }>): void => {
  const now = asked.value.find((each) => each.question === question)
  if (now === undefined) return
  switch (event.type) {
    case "stage":
      return change(question, { stages: [...now.stages, event.stage] })
    case "recalled":
      return change(question, { passages: event.passages })
    case "looked":
      return change(question, { looks: [...now.looks, event.look] })
    case "sentence": {
      const known = new Set(now.citations.map(({ n }) => n))
      return change(question, {
        sentences: [...now.sentences, event.sentence],
        citations: [...now.citations, ...event.citations.filter(({ n }) => !known.has(n))]
      })
    }
    case "answer": {
      const { answer } = event
      const { citations, figures, sentences, trace } = answer
      return change(question, {
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

const run = async (question: string): Promise<void> => {
  following.get(question)?.abort()
  const controller = new AbortController()
  following.set(question, controller)
  const filter = wireFilter.value
  const within = inWords.value
  const fresh: Asked = {
    question,
    state: "asking",
    stages: [],
    passages: [],
    sentences: [],
    citations: [],
    looks: [],
    ...(filter !== undefined && { within })
  }
  asked.value = [fresh, ...asked.value.filter((each) => each.question !== question)]
  announce("Asking.")
  try {
    await requestEvents<AnswerEvent>(
      "/qa",
      { body: { question, filter }, signal: controller.signal },
      (event) => onEvent(question, event)
    )
    if (asked.value.find((each) => each.question === question)?.state === "asking")
      throw new Error("The answer broke off before it was whole. Ask again.")
  } catch (thrown) {
    if (controller.signal.aborted) return
    const failure = toFailure(thrown)
    change(question, { state: "failed", failure })
    if (failure.code === "manifest_mismatch") void refreshStatus()
  }
  const done = asked.value.find((each) => each.question === question)
  if (done !== undefined) tell(done)
}

/** Asks, also when the same was asked before: the documents may have changed. */
export const ask = (text: string): void => {
  const question = text.trim().replaceAll(/\s+/g, " ")
  if (question === "") return
  void run(question)
  go(questionHref(question))
}

// A link to a question asks it, once there is a session.
effect(() => {
  const now = route.value
  if (now.view !== "ask" || now.question === undefined || session.value !== "open") return
  const { question } = now
  untracked(() => {
    if (!asked.value.some((each) => each.question === question)) void run(question)
  })
})
