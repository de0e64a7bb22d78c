/** `POST /v1/chat/completions`, whole or as server-sent events. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { ServerApi } from "../contract/ServerApi.ts"
import { chatMeter } from "../money/Meter.ts"
import { Providers } from "../providers/Providers.ts"
import { serve } from "./serve.ts"

export const ChatLayer = HttpApiBuilder.group(
  ServerApi,
  "chat",
  Effect.fn(function* (handlers) {
    const chat = yield* serve(yield* Providers, chatMeter, (operations) => operations.chat)
    return handlers.handle("create", ({ payload }) => chat(payload))
  })
)
