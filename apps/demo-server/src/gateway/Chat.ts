/** `POST /v1/chat/completions`, whole or as server-sent events. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { ServerApi } from "../contract/ServerApi.ts"
import { chatMeter } from "../billing/Meter.ts"
import { Providers } from "../routing/Providers.ts"
import { limited } from "./ChatLimit.ts"
import { checkChatImages } from "./GivenImages.ts"
import { serve } from "./serve.ts"

export const ChatLayer = HttpApiBuilder.group(
  ServerApi,
  "chat",
  Effect.fn(function* (handlers) {
    const chat = yield* serve(yield* Providers, chatMeter, (operations) => operations.chat)
    return handlers.handle("create", ({ payload, request }) =>
      request.text.pipe(
        // Read already to decode the payload: this is the same text.
        Effect.orDie,
        Effect.flatMap((text) => limited(payload, text)),
        Effect.tap(({ request }) => checkChatImages(request)),
        Effect.flatMap(({ body, request }) => chat(request, body))
      )
    )
  })
)
