/** The questions of this visit and their answers. */
import { computed, effect, signal, untracked } from "@preact/signals"
import type { AnswerBody, AnswerStreamEvent, Citation, ShortFilter, Trace } from "../../contract/index.ts"
import { brokenStream, online, RequestError, requestEvents, toRequestError } from "../api/request.ts"
import { collection } from "../documents/collections.tsx"
import { persisted } from "../page/persisted.ts"
import { navigate, questionHref, currentRoute } from "../page/route.ts"
import { session } from "../page/session.ts"
import { refreshStatus } from "../page/status.ts"
import { pluralize } from "../ui/format.ts"
import { announce } from "../ui/Notices.tsx"
import { chosenFilterText, requestFilter } from "./filter.ts"

type QuestionKey = { readonly question: string; readonly collection: string }

/** A question as it is sent. Without a filter, all documents are searched. */
interface SentQuestion extends QuestionKey {
  readonly filter: ShortFilter | undefined
  readonly filterText: string | undefined
}

/** A question and what has arrived of its answer. */
export interface QuestionState extends SentQuestion {
  readonly state: "asking" | "answered" | "failed"
  /** How a follow-up was understood. */
  readonly standalone?: AnswerBody["standalone"]
  readonly stages: Trace["stages"]
  readonly passages: Trace["passages"]
  readonly sentences: AnswerBody["sentences"]
  readonly citations: ReadonlyArray<Citation>
  /** Text of the next sentence, as the model writes it: its quotes are not checked yet. */
  readonly draft: string
  /** Figures and tables that a vision model checked. */
  readonly checked: AnswerBody["figures"]
  readonly answer?: AnswerBody
  readonly error?: RequestError
  /** Aborts its request. */
  readonly controller: AbortController
  /** How often it was repeated automatically. */
  readonly retries: number
  /** Asks it again in its conversation. */
  readonly again?: () => void
  /** Asks it again, understood as this question. */
  readonly understand?: (standalone: string) => void
}

export const questionDraft = persisted("question", "")

/** Latest first; one for each question and collection. */
export const questions = signal<ReadonlyArray<QuestionState>>([])

const isSame = (one: QuestionKey, other: QuestionKey): boolean =>
  one.question === other.question && one.collection === other.collection

const find = (key: QuestionKey): QuestionState | undefined =>
  questions.value.find((each) => isSame(each, key))

/** The question that is shown. */
export const current = computed(() => {
  const now = currentRoute.value
  if (now.view !== "ask" || now.question === undefined) return undefined
  return find({ question: now.question, collection: now.collection })
})

type AnswerEvent = Exclude<AnswerStreamEvent, { type: "error" }>

export const changeOf = (
  now: Pick<QuestionState, "citations" | "checked" | "draft" | "sentences" | "stages">,
  event: AnswerEvent
): Partial<QuestionState> => {
  switch (event.type) {
    case "standalone":
      return { standalone: event.standalone }
    case "stage":
      return { stages: [...now.stages, event.stage] }
    case "recalled":
      return { passages: event.passages }
    case "looked":
      return { checked: [...now.checked, event.look] }
    case "sentence": {
      const known = new Set(now.citations.map(({ n }) => n))
      const citations = [...now.citations, ...event.citations.filter(({ n }) => !known.has(n))]
      return { sentences: [...now.sentences, event.sentence], citations, draft: "" }
    }
    case "text":
      return { draft: now.draft + event.text }
    case "withdrawn":
      return { draft: "" }
    case "answer": {
      const { citations, figures: checked, sentences, trace } = event.answer
      const { passages, stages } = trace
      return {
        state: "answered",
        answer: event.answer,
        draft: "",
        citations,
        checked,
        sentences,
        passages,
        stages
      }
    }
  }
}

const announceOutcome = ({ answer, error }: QuestionState): void =>
  announce(
    error !== undefined
      ? error.code === "stopped"
        ? "Stopped."
        : `The question failed. ${error.message}`
      : answer?.found
        ? `Answered: ${pluralize(answer.sentences.length, "sentence")}, ${pluralize(answer.citations.length, "citation")}.`
        : answer?.outcome === "unread"
          ? `The answer could not be read. ${answer.notRead?.message ?? ""}`
          : answer?.outcome === "passages"
            ? "No sure answer. The closest passages are shown."
            : "No answer was found in the documents."
  )

export const newQuestion = {
  state: "asking",
  stages: [],
  passages: [],
  sentences: [],
  citations: [],
  draft: "",
  checked: []
} as const

/** Why a question failed. The banner says how to rebuild, and how far a rebuild is. */
const questionError = (thrown: unknown): RequestError => {
  const error = toRequestError(thrown)
  if (error.code !== "manifest_mismatch") return error
  void refreshStatus()
  const isRunning = error.message.startsWith("The library is being rebuilt")
  return isRunning ? error : new RequestError("Rebuild before asking.", error.status, error.code)
}

/** Where what arrives of a question's answer is shown, while nothing else has taken its place. */
interface Place {
  readonly find: () => QuestionState | undefined
  readonly set: (change: (now: QuestionState) => Partial<QuestionState>) => void
}

/** Sends a question, and shows its answer, or why there is none. */
export const streamAnswer = async (
  body: object,
  { signal }: AbortController,
  { find, set }: Place
): Promise<void> => {
  announce("Asking.")
  try {
    await requestEvents<AnswerStreamEvent>("/qa", { body, signal }, (event) =>
      set((now) => changeOf(now, event))
    )
    if (find()?.state === "asking") throw brokenStream()
  } catch (thrown) {
    const stopped = new RequestError("You stopped this question.", 0, "stopped")
    const error = signal.aborted ? stopped : questionError(thrown)
    set(() => ({ state: "failed", error }))
  }
  const done = find()
  if (done !== undefined) announceOutcome(done)
}

const send = async (sent: SentQuestion, retries = 0): Promise<void> => {
  const { collection, filter, filterText, question } = sent
  find(sent)?.controller.abort()
  const controller = new AbortController()
  const asked = { question, collection, filter, filterText, retries, controller, ...newQuestion }
  questions.value = [asked, ...questions.value.filter((each) => !isSame(each, sent))]
  const isShown = (each: QuestionState) => each.controller === controller
  await streamAnswer({ question, collection, filter, conversation: "new" }, controller, {
    find: () => questions.value.find(isShown),
    set: (change) => {
      questions.value = questions.value.map((each) => (isShown(each) ? { ...each, ...change(each) } : each))
    }
  })
}

const withFilter = (key: QuestionKey): SentQuestion => ({
  ...key,
  filter: requestFilter.value,
  filterText: requestFilter.value && chosenFilterText.value
})

/** Asks a question with the chosen filter, also if it was asked before: the documents may have changed. */
export const askQuestion = (text: string): void => {
  const question = text.trim().replaceAll(/\s+/g, " ")
  if (question === "") return
  void send(withFilter({ question, collection: collection.value }))
  navigate(questionHref(question, collection.value))
}

/** Asks a question again with its own filter. */
export const askAgain = (question: QuestionState): void =>
  question.again === undefined ? void send(question) : question.again()

/** Stops a question. What has arrived of its answer stays. */
export const stopQuestion = ({ controller }: QuestionState): void => controller.abort()

/** Automatic retries of a question at most. */
const MAX_RETRIES = 5

/** Whether it is repeated as soon as there is a server and a session. */
export const willRetry = ({ error, retries }: QuestionState): boolean =>
  retries < MAX_RETRIES && (error?.code === "offline" || error?.status === 401)

effect(() => {
  if (!online.value || session.value !== "open") return
  untracked(() => {
    for (const each of questions.value.filter(willRetry)) void send(each, each.retries + 1)
  })
})

// A link to a question asks it, once there is a session.
effect(() => {
  const now = currentRoute.value
  if (now.view !== "ask" || now.question === undefined || session.value !== "open") return
  const { collection, question } = now
  untracked(() => {
    if (find({ collection, question }) === undefined) void send(withFilter({ question, collection }))
  })
})
