/** The conversation that is shown: its turns are kept on the server. */
import { signal } from "@preact/signals"
import type {
  AnswerBody,
  AnswerStreamEvent,
  ConversationBody,
  ConversationSummary,
  Rating
} from "../../contract/index.ts"
import { brokenStream, request, RequestError, requestEvents, toRequestError } from "../api/request.ts"
import { conversationHref, currentRoute, navigate } from "../page/route.ts"
import { whileShown } from "../page/session.ts"
import { announce } from "../ui/Notices.tsx"
import { announceOutcome, changeOf, newQuestion, questionError, type QuestionState } from "./questions.ts"

export interface TurnState extends QuestionState {
  readonly number: number
  readonly rating?: Rating | undefined
}

interface ThreadState extends Omit<ConversationBody, "turns"> {
  readonly turns: ReadonlyArray<TurnState>
}

export const thread = signal<ThreadState>()
export const threadError = signal<RequestError>()
/** The path of a new link, which is shown once. */
export const sharedPath = signal<string>()

const setTurn = (id: string, number: number, change: (now: TurnState) => Partial<TurnState>): void => {
  const now = thread.value
  if (now?.id !== id) return
  const turns = now.turns.map((each) => (each.number === number ? { ...each, ...change(each) } : each))
  thread.value = { ...now, turns }
}

/** The functions of a turn that a view calls. */
const actionsOf = (id: string, number: number, question: string) => ({
  again: () => void askTurn(id, number, question),
  understand: (standalone: string) => void askTurn(id, number, question, standalone)
})

const answered = (id: string, number: number, answer: AnswerBody): Partial<TurnState> => ({
  ...changeOf(newQuestion, { type: "answer", answer }),
  ...(answer.standalone !== undefined && { standalone: answer.standalone }),
  ...actionsOf(id, number, answer.question)
})

let loading: { readonly id: string; readonly done: Promise<void> } | undefined

/** Loads a conversation, once if it is asked for twice. */
const load = (id: string): Promise<void> => {
  if (thread.value?.id === id) return Promise.resolve()
  if (loading?.id !== id) loading = { id, done: loadThread(id).finally(() => (loading = undefined)) }
  return loading.done
}

const loadThread = async (id: string): Promise<void> => {
  thread.value = undefined
  sharedPath.value = undefined
  threadError.value = undefined
  try {
    const { turns, ...rest } = await request<ConversationBody>(
      "GET",
      `/conversations/${encodeURIComponent(id)}`
    )
    const shown = turns.map(({ answer, number, rating }): TurnState => ({
      ...newTurn(rest.collection, answer.question, number),
      ...answered(id, number, answer),
      rating
    }))
    thread.value = { ...rest, turns: shown }
  } catch (thrown) {
    threadError.value = toRequestError(thrown)
  }
}

whileShown(["conversation"], () => {
  const route = currentRoute.value
  if (route.view === "conversation") void load(route.id)
})

const newTurn = (collection: string, question: string, number: number): TurnState => ({
  ...newQuestion,
  question,
  collection,
  number,
  filter: undefined,
  filterText: undefined,
  retries: 0,
  controller: new AbortController()
})

/** Asks a turn, or asks it again: those after it are replaced. */
const askTurn = async (id: string, number: number, text: string, standalone?: string): Promise<void> => {
  const now = thread.value
  const question = text.trim().replaceAll(/\s+/g, " ")
  if (now?.id !== id || question === "") return
  for (const each of now.turns) if (each.number >= number) each.controller.abort()
  const turn: TurnState = { ...newTurn(now.collection, question, number), ...actionsOf(id, number, question) }
  thread.value = { ...now, turns: [...now.turns.filter((each) => each.number < number), turn] }
  announce("Asking.")
  const { signal } = turn.controller
  const body = { question, collection: now.collection, conversation: id, turn: number, standalone }
  const change = (event: Parameters<typeof changeOf>[1]) =>
    setTurn(id, number, (each) => (each.controller === turn.controller ? changeOf(each, event) : {}))
  const find = () => thread.value?.turns.find((each) => each.controller === turn.controller)
  try {
    await requestEvents<AnswerStreamEvent>("/qa", { body, signal }, change)
    if (find()?.state === "asking") throw brokenStream()
  } catch (thrown) {
    const stopped = new RequestError("You stopped this question.", 0, "stopped")
    const error = signal.aborted ? stopped : questionError(thrown)
    if (find() !== undefined) setTurn(id, number, () => ({ state: "failed", error }))
  }
  const done = find()
  if (done !== undefined) announceOutcome(done)
}

/** Asks the next question of a conversation, and shows it. */
export const askFollowUp = async (id: string, question: string): Promise<void> => {
  navigate(conversationHref(id))
  await load(id)
  const last = thread.value?.turns.at(-1)?.number ?? 0
  await askTurn(id, last + 1, question)
}

export const editTurn = ({ number }: TurnState, question: string): void => {
  if (thread.value !== undefined) void askTurn(thread.value.id, number, question)
}

/** The latest conversations. */
export const recent = signal<ReadonlyArray<ConversationSummary>>([])

/** Conversations of the list at most. */
const RECENT = 10

whileShown(["ask"], async () => {
  const list = await request<{ readonly conversations: ReadonlyArray<ConversationSummary> }>(
    "GET",
    "/conversations"
  ).catch(() => ({ conversations: [] }))
  recent.value = list.conversations.slice(0, RECENT)
})

const change = async (
  work: (now: ThreadState) => Promise<Partial<ThreadState> | undefined>
): Promise<void> => {
  const now = thread.value
  if (now === undefined) return
  threadError.value = undefined
  try {
    const changes = await work(now)
    if (changes !== undefined && thread.value?.id === now.id) thread.value = { ...thread.value, ...changes }
  } catch (thrown) {
    threadError.value = toRequestError(thrown)
  }
}

export const rateTurn = ({ number, rating: before }: TurnState, chosen: Rating): Promise<void> =>
  change(async ({ id }) => {
    const rating = before === chosen ? null : chosen
    await request("PUT", `/conversations/${id}/turns/${number}/rating`, { body: { rating } })
    setTurn(id, number, () => ({ rating: rating ?? undefined }))
    return undefined
  })

export const shareThread = (): Promise<void> =>
  change(async ({ id }) => {
    const { path } = await request<{ readonly path: string }>("POST", `/conversations/${id}/link`)
    sharedPath.value = path
    return { shared: true }
  })

export const unshareThread = (): Promise<void> =>
  change(async ({ id }) => {
    await request("DELETE", `/conversations/${id}/link`)
    sharedPath.value = undefined
    return { shared: false }
  })

export const removeThread = (): Promise<void> =>
  change(async ({ id }) => {
    await request("DELETE", `/conversations/${id}`)
    thread.value = undefined
    navigate("#ask")
    announce("Conversation removed.")
    return undefined
  })
