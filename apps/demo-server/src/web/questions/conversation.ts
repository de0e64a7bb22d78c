/** The conversation that is shown: its turns are kept on the server. */
import { effect, signal, untracked } from "@preact/signals"
import type { ConversationBody, ConversationSummary, Rating } from "../../contract/index.ts"
import { online, request, type RequestError, toRequestError } from "../api/request.ts"
import { tryRequest } from "../page/calls.ts"
import { conversationHref, currentRoute, navigate } from "../page/route.ts"
import { session, whileShown } from "../page/session.ts"
import { announce } from "../ui/Notices.tsx"
import { changeOf, newQuestion, type QuestionState, streamAnswer, willRetry } from "./questions.ts"

export interface TurnState extends QuestionState {
  /** Its key on this page, also when it is asked again. */
  readonly key: number
  /** Its number on the server. Absent until it is kept. */
  readonly number: number | undefined
  readonly rating?: Rating | undefined
  /** Sends it again automatically. */
  readonly retry?: () => void
}

interface ThreadState extends Omit<ConversationBody, "turns"> {
  readonly turns: ReadonlyArray<TurnState>
}

export const thread = signal<ThreadState>()
export const threadError = signal<RequestError>()
/** The path of a new link, which is shown once. */
export const sharedPath = signal<string>()

const setTurn = (id: string, key: number, change: (now: TurnState) => Partial<TurnState>): void => {
  const now = thread.value
  if (now?.id !== id) return
  const turns = now.turns.map((each) => (each.key === key ? { ...each, ...change(each) } : each))
  thread.value = { ...now, turns }
}

/** The functions of a turn that a view calls. */
const actionsOf = (id: string, key: number, question: string) => ({
  again: () => void askTurn(id, { question, key }),
  understand: (standalone: string) => void askTurn(id, { question, key, standalone })
})

let loading:
  | { readonly id: string; readonly controller: AbortController; readonly done: Promise<void> }
  | undefined

/** Loads a conversation, once if it is asked for twice. Ends the loading of another. */
const load = (id: string): Promise<void> => {
  if (loading?.id === id) return loading.done
  loading?.controller.abort()
  loading = undefined
  if (thread.value?.id === id) return Promise.resolve()
  const controller = new AbortController()
  const done = loadThread(id, controller.signal).finally(() => {
    if (loading?.controller === controller) loading = undefined
  })
  loading = { id, controller, done }
  return done
}

const loadThread = async (id: string, signal: AbortSignal): Promise<void> => {
  thread.value = undefined
  sharedPath.value = undefined
  threadError.value = undefined
  try {
    const path = `/conversations/${encodeURIComponent(id)}`
    const { turns, ...rest } = await request<ConversationBody>("GET", path, { signal })
    signal.throwIfAborted()
    const shown = turns.map(({ answer, number, rating }): TurnState => {
      const turn = newTurn(rest.collection, answer.question)
      const change = changeOf(newQuestion, { type: "answer", answer })
      const standalone = answer.standalone !== undefined && { standalone: answer.standalone }
      return {
        ...turn,
        ...change,
        ...standalone,
        ...actionsOf(id, turn.key, answer.question),
        number,
        rating
      }
    })
    thread.value = { ...rest, turns: shown }
  } catch (thrown) {
    if (!signal.aborted) threadError.value = toRequestError(thrown)
  }
}

whileShown(["conversation"], () => {
  const route = currentRoute.value
  if (route.view === "conversation") void load(route.id)
})

let keys = 0

const newTurn = (collection: string, question: string, before?: TurnState): TurnState => ({
  ...newQuestion,
  question,
  collection,
  key: before?.key ?? ++keys,
  number: before?.number,
  filter: undefined,
  filterText: undefined,
  retries: 0,
  controller: new AbortController()
})

interface TurnRequest {
  readonly question: string
  readonly standalone?: string | undefined
  /** Of the turn that is asked again: it and those after it are replaced. Absent: the next turn. */
  readonly key?: number
  readonly retries?: number
}

/** The turns that end if one is asked again. One that was never kept has none after it. */
const replacedBy = (turns: ReadonlyArray<TurnState>, at: number): ReadonlyArray<TurnState> => {
  const number = turns[at]?.number
  return turns.filter(
    (each, i) =>
      i === at || (number !== undefined && (each.number === undefined ? i > at : each.number > number))
  )
}

const askTurn = async (
  id: string,
  { key, question: text, retries = 0, standalone }: TurnRequest
): Promise<void> => {
  const now = thread.value
  const question = text.trim().replaceAll(/\s+/g, " ")
  if (now?.id !== id || question === "") return
  const at = now.turns.findIndex((each) => each.key === key)
  const replaced = replacedBy(now.turns, at)
  for (const each of replaced) each.controller.abort()
  const begun = newTurn(now.collection, question, now.turns[at])
  const again = { question, standalone, key: begun.key, retries: retries + 1 }
  const turn: TurnState = {
    ...begun,
    ...actionsOf(id, begun.key, question),
    retries,
    retry: () => void askTurn(id, again)
  }
  thread.value = { ...now, turns: [...now.turns.filter((each) => !replaced.includes(each)), turn] }
  // Without a number the server takes the next one: another tab may have asked too.
  const body = { question, collection: now.collection, conversation: id, turn: turn.number, standalone }
  const find = () => thread.value?.turns.find((each) => each.controller === turn.controller)
  await streamAnswer(body, turn.controller, {
    find,
    set: (change) => {
      if (find() === undefined) return
      setTurn(id, turn.key, (each) => {
        const changed = change(each)
        return { ...changed, number: changed.answer?.conversation?.turn ?? each.number }
      })
    }
  })
}

effect(() => {
  if (!online.value || session.value !== "open") return
  untracked(() => {
    for (const each of thread.value?.turns.filter(willRetry) ?? []) each.retry?.()
  })
})

/** Asks the next question of a conversation, and shows it. */
export const askFollowUp = async (id: string, question: string): Promise<void> => {
  navigate(conversationHref(id))
  await load(id)
  await askTurn(id, { question })
}

export const editTurn = ({ key }: TurnState, question: string): void => {
  if (thread.value !== undefined) void askTurn(thread.value.id, { question, key })
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

const change = async (work: (now: ThreadState) => Promise<Partial<ThreadState> | void>): Promise<void> => {
  const now = thread.value
  if (now === undefined) return
  await tryRequest(threadError, async () => {
    const changes = await work(now)
    if (changes && thread.value?.id === now.id) thread.value = { ...thread.value, ...changes }
  })
}

export const rateTurn = ({ key, number, rating: before }: TurnState, chosen: Rating): Promise<void> =>
  change(async ({ id }) => {
    const rating = before === chosen ? null : chosen
    await request("PUT", `/conversations/${id}/turns/${number}/rating`, { body: { rating } })
    setTurn(id, key, () => ({ rating: rating ?? undefined }))
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

export const renameThread = (title: string): Promise<void> =>
  change(async ({ id }) => {
    const renamed = await request<ConversationSummary>("PATCH", `/conversations/${id}`, { body: { title } })
    return { title: renamed.title }
  })

export const removeThread = (): Promise<void> =>
  change(async ({ id, turns }) => {
    for (const each of turns) each.controller.abort()
    await request("DELETE", `/conversations/${id}`)
    thread.value = undefined
    navigate("#ask")
    announce("Conversation removed.")
  })
