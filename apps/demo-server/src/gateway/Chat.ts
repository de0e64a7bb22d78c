/** `POST /v1/chat/completions`, whole or as server-sent events. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { ServerApi } from "../contract/ServerApi.ts"
import { Providers } from "../providers/Providers.ts"
import { serve } from "./serve.ts"

export const ChatLayer = HttpApiBuilder.group(
  ServerApi,
  "chat",
  Effect.fn(function* (handlers) {
    const chat = serve(yield* Providers, "chat", (operations) => operations.chat)
    return handlers.handle("create", ({ payload }) => chat(payload))
  })
)
