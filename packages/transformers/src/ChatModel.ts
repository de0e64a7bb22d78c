/** What the process of a chat model does: it loads one GGUF file with the first call, and keeps it. */
import { statSync } from "node:fs"
import { availableParallelism } from "node:os"
import { firstLineOf, withAdvice } from "./ModelJobs.ts"
import { memoryShortage } from "./store/ModelMemory.ts"

/** The model and its source. */
export interface LlamaModelOptions {
  /** A GGUF file. */
  readonly model: string
  /** The name in answers and traces. Default: the file's name. */
  readonly name?: string
  /** Tokens of a request and its response together. Default 8,192. They take memory. */
  readonly window?: number
  /** The library, as the process of the model imports it: a package, or the URL of a file. Default `node-llama-cpp`. */
  readonly library?: string
}

/** A chat that the process is asked for. */
export interface ChatJob {
  readonly options: LlamaModelOptions
  readonly messages: ReadonlyArray<{
    readonly type: "system" | "user" | "assistant"
    readonly text: string
  }>
  /** The JSON schema of the response. */
  readonly schema: object | undefined
  readonly maxTokens: number
}

/** A part of the response, or how it ended. */
export type ChatReply =
  | { readonly text: string }
  | {
      readonly finishReason: "stop" | "length"
      readonly promptTokens: number
      readonly completionTokens: number
    }
  /** `isRequest`: the request is at fault, not the model. */
  | { readonly fault: string; readonly isRequest: boolean }

type Token = number

interface Sequence {
  readonly nextTokenIndex: number
  readonly adaptStateToTokens: (tokens: ReadonlyArray<Token>) => Promise<void>
  readonly evaluateWithoutGeneratingNewTokens: (tokens: ReadonlyArray<Token>) => Promise<void>
  readonly evaluate: (tokens: ReadonlyArray<Token>, options: object) => AsyncIterable<Token>
}

interface Model {
  readonly tokenizer: object
  readonly detokenize: (tokens: ReadonlyArray<Token>) => string
  readonly createContext: (options: object) => Promise<{ readonly getSequence: () => Sequence }>
}

/** The used part of the library. */
interface Library {
  readonly getLlama: (options: object) => Promise<{
    readonly loadModel: (options: object) => Promise<Model>
    readonly createGrammarForJsonSchema: (schema: object) => Promise<object>
  }>
  readonly resolveChatWrapper: (model: Model) => {
    readonly generateContextState: (state: { readonly chatHistory: ReadonlyArray<object> }) => {
      readonly contextText: { readonly tokenize: (tokenizer: object) => ReadonlyArray<Token> }
    }
  }
  readonly LlamaGrammarEvaluationState: new (options: object) => object
}

/** The library's package, and how to get it. */
export const LLAMA = "node-llama-cpp"

export const CHAT_WINDOW = 8192

/** Tokens of the request between two looks at whether the response is still wanted. */
const STEP = 64

const importLibrary = async (own: string | undefined): Promise<Library> => {
  const library = (await import(own ?? LLAMA)) as Partial<Library>
  if (typeof library.getLlama !== "function")
    throw new Error("The installed package of that name is another one.")
  return library as Library
}

const load = async ({ library: own, model: modelPath, window = CHAT_WINDOW }: LlamaModelOptions) => {
  const shortage = memoryShortage(statSync(modelPath).size)
  if (shortage !== undefined) throw new Error(shortage)
  const library = await withAdvice(
    importLibrary(own),
    (message) => `A chat model on this machine needs the package ${LLAMA}: npm install ${LLAMA}. ${message}`
  )
  // One processor is left to the program: its threads wait for each other, and are ten times slower where one has to.
  const threads = Math.max(1, availableParallelism() - 1)
  const settings = { build: "never", skipDownload: true, progressLogs: false, logLevel: "error" }
  const llama = await library.getLlama({ ...settings, maxThreads: threads })
  const model = await llama.loadModel({ modelPath })
  const context = await model.createContext({ contextSize: window })
  return {
    library,
    llama,
    model,
    sequence: context.getSequence(),
    wrapper: library.resolveChatWrapper(model),
    window
  }
}

let loading: ReturnType<typeof load> | undefined

/** Loads the model with the first call. Loading is tried again after it failed. */
const loadOnce = (options: LlamaModelOptions) =>
  (loading ??= withAdvice(
    load(options),
    (message) => `The model ${options.model} cannot be loaded: ${message}`
  ).catch((cause: unknown) => {
    loading = undefined
    throw cause
  }))

class RequestTooLong extends Error {}

/** What the library's JSON is followed by. */
const JSON_END = "\n\n\n\n"

/** A token may end within a character. */
const CUT = "\uFFFD"

/** Answers a chat, the most probable token each time. `isWanted`: whether to go on. */
export const writeResponse = async (
  { maxTokens, messages, options, schema }: ChatJob,
  isWanted: () => boolean,
  reply: (reply: ChatReply) => void
): Promise<void> => {
  if (!isWanted()) return
  const { library, llama, model, sequence, window, wrapper } = await loadOnce(options)
  const chatHistory = messages.map(({ text, type }) =>
    type === "assistant" ? { type: "model", response: [text] } : { type, text }
  )
  const { contextText } = wrapper.generateContextState({
    chatHistory: [...chatHistory, { type: "model", response: [] }]
  })
  const tokens = contextText.tokenize(model.tokenizer)
  const room = Math.min(maxTokens, window - tokens.length)
  if (room < 1)
    throw new RequestTooLong(
      `The request has ${tokens.length} tokens, and the model reads ${window}. Read fewer passages.`
    )
  const last = tokens.length - 1
  // What the request before had in common, such as the instructions, is not computed again.
  await sequence.adaptStateToTokens(tokens.slice(0, last))
  for (let at = sequence.nextTokenIndex; at < last && isWanted(); at += STEP)
    await sequence.evaluateWithoutGeneratingNewTokens(tokens.slice(at, Math.min(at + STEP, last)))
  if (!isWanted()) return
  const grammar = schema && (await llama.createGrammarForJsonSchema(schema))
  const grammarEvaluationState = grammar && new library.LlamaGrammarEvaluationState({ model, grammar })
  const written: Array<Token> = []
  let sent = ""
  let isComplete = true
  for await (const token of sequence.evaluate(tokens.slice(last), {
    temperature: 0,
    grammarEvaluationState
  })) {
    written.push(token)
    const text = model.detokenize(written)
    if (!text.endsWith(CUT)) {
      reply({ text: text.slice(sent.length) })
      sent = text
    }
    if (!isWanted() || (grammar !== undefined && text.endsWith(JSON_END))) break
    isComplete = written.length < room
    if (!isComplete) break
  }
  reply({
    finishReason: isComplete ? "stop" : "length",
    promptTokens: tokens.length,
    completionTokens: written.length
  })
}

/** Answers a chat. A thrown error is a fault. */
export const writeOrFault: typeof writeResponse = (request, isWanted, reply) =>
  writeResponse(request, isWanted, reply).catch((cause: unknown) =>
    reply({ fault: firstLineOf(cause), isRequest: cause instanceof RequestTooLong })
  )
