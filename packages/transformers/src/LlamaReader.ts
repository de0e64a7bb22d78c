/** `Reader` by a chat model on this machine. */
import {
  type ChatCall,
  type ChatPart,
  GatewayError,
  GatewayReader,
  type GatewayReason,
  InvalidRequest,
  Reader,
  ServerFailure
} from "@sluice/core"
import { makeFairQueue, moduleBeside, WorkerUser } from "@sluice/core/workers"
import { Effect, Layer, Queue, Stream } from "effect"
import { type ChildProcess, fork } from "node:child_process"
import { basename } from "node:path"
import { fileURLToPath } from "node:url"
import { type ChatJob, type LlamaModelOptions, CHAT_WINDOW } from "./ChatModel.ts"
import type { FromChatProcess, ToChatProcess } from "./ChatProcess.ts"
import { modelUnavailable } from "./ModelThread.ts"

const ENDED =
  "The process of the model ended. If it ends again, its file may be damaged. Check it: npx @sluice/demo-server models verify"

export interface LlamaReaderOptions extends LlamaModelOptions {
  /** The most tokens of one response. Default 512. */
  readonly maxTokens?: number
}

/** Some three sentences with quotes. A processor writes a few tokens a second. */
const MAX_TOKENS = 512

const entry = moduleBeside(import.meta.url, "./ChatProcess")
const execArgv = entry.href.endsWith(".ts") ? ["--conditions=@sluice/source"] : []

const requestOf = (options: LlamaModelOptions, { extra, maxTokens, messages }: ChatCall): ChatJob => {
  const format = extra?.["response_format"] as
    | { readonly json_schema?: { readonly schema?: object } }
    | undefined
  return {
    options,
    messages: messages.map(({ content, role }) => ({
      type: role === "user" || role === "assistant" ? role : "system",
      text:
        typeof content === "string"
          ? content
          : (content ?? []).map((part) => ("text" in part ? part.text : "")).join("")
    })),
    schema: format?.json_schema?.schema,
    maxTokens: maxTokens ?? MAX_TOKENS
  }
}

/** Answers chats in a process, which starts with the first call and ends with the scope. */
const makeChat = Effect.fn("LlamaReader.make")(function* (options: LlamaModelOptions, id: string) {
  const inTurn = makeFairQueue(1, 1)
  let child: ChildProcess | undefined
  let calls = 0
  const start = (): ChildProcess => {
    const started = fork(fileURLToPath(entry), {
      execArgv,
      // What llama.cpp writes is not the program's output.
      stdio: ["ignore", "ignore", "inherit", "ipc"]
    })
    const forget = () => {
      if (child === started) child = undefined
    }
    // Without a listener, a failed message would end the program.
    return started.on("error", forget).on("exit", forget)
  }
  yield* Effect.addFinalizer(() => Effect.sync(() => child?.kill("SIGKILL")))
  const failure = (reason: GatewayReason) =>
    Effect.fail(new GatewayError({ operation: "chat", model: id, reason }))

  const send = (request: ChatJob, onPart: (part: ChatPart) => void) =>
    Effect.callback<void, GatewayError>((resume) => {
      const own = (child ??= start())
      const call = ++calls
      own.ref()
      own.channel?.ref()
      const end = (effect: Effect.Effect<void, GatewayError>) => {
        own.off("message", onMessage).off("exit", onExit).off("error", onExit)
        // An idle process does not keep the program alive.
        own.unref()
        own.channel?.unref()
        resume(effect)
      }
      const onMessage = (reply: FromChatProcess) => {
        if (reply.id !== call) return
        if ("fault" in reply) {
          const { fault: message, isRequest } = reply
          return end(failure(isRequest ? new InvalidRequest({ message }) : modelUnavailable(message)))
        }
        if ("text" in reply) return onPart({ type: "text", text: reply.text })
        const { completionTokens, finishReason, promptTokens } = reply
        onPart({ type: "end", finishReason, promptTokens, completionTokens })
        end(Effect.void)
      }
      const onExit = () => end(failure(new ServerFailure({ status: 503, message: ENDED })))
      own.on("message", onMessage).on("exit", onExit).on("error", onExit)
      own.send({ id: call, request } satisfies ToChatProcess)
      return Effect.sync(() => {
        if (own.connected) own.send({ stop: call } satisfies ToChatProcess)
        end(Effect.void)
      })
    })

  const chatStream = (call: ChatCall): Stream.Stream<ChatPart, GatewayError> =>
    Stream.callback((queue) =>
      Effect.flatMap(WorkerUser, (user) =>
        inTurn(
          user,
          send(requestOf(options, call), (part) => void Queue.offerUnsafe(queue, part))
        )
      ).pipe(Effect.andThen(Effect.sync(() => Queue.endUnsafe(queue))))
    )
  return { chatStream }
})

/**
 * Loads a GGUF file on first use, in a process of its own, and ends the process with the layer.
 *
 * **Details.** The model gets the prompt of `GatewayReader` and writes its JSON, which the sampling enforces; each quote is then
 * checked against its passage. Calls run one at a time, and users come in turn. An interruption stops the response. The library
 * is `node-llama-cpp`. It downloads and compiles nothing. A model that cannot be loaded, or does not fit into memory, fails with `ServerFailure`.
 *
 * ```ts
 * LlamaReader.layer({ model: "./models/qwen2.5-1.5b-instruct-q4_k_m.gguf" })
 * ```
 */
export const layer = ({ maxTokens = MAX_TOKENS, ...options }: LlamaReaderOptions): Layer.Layer<Reader> =>
  Layer.effect(
    Reader,
    Effect.gen(function* () {
      const { name: model = basename(options.model), window = CHAT_WINDOW } = options
      return GatewayReader.make(yield* makeChat(options, model), { model, window, maxTokens })
    })
  )
