/**
 * Entry of the process of a chat model. Nothing imports it.
 *
 * A process, because llama.cpp ends its own on a damaged file, and when a thread is ended that computes.
 */
import { setPriority } from "node:os"
import { type ChatReply, type ChatJob, writeOrFault } from "./ChatModel.ts"

/** A chat, or that one is not wanted any more. */
export type ToChatProcess = { readonly id: number; readonly request: ChatJob } | { readonly stop: number }

export type FromChatProcess = ChatReply & { readonly id: number }

/** Of 19: the program that answers comes first. */
const NICER = 10

try {
  setPriority(NICER)
} catch {
  // It is not allowed here.
}

const wanted = new Set<number>()
let last: Promise<void> = Promise.resolve()

process.on("message", (message: ToChatProcess) => {
  if ("stop" in message) return void wanted.delete(message.stop)
  const { id, request } = message
  wanted.add(id)
  const reply = (part: ChatReply) => void process.send?.({ ...part, id })
  last = last.then(() => writeOrFault(request, () => wanted.has(id), reply))
})

// The program has ended.
process.on("disconnect", () => process.exit())
