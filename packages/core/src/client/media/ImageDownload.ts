/** Loads generated images from Base64 or a link, and saves them. The credential is sent only to the gateway. */
import { Effect, Result, Stream } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import { decodeBase64 } from "../../contract/Base64.ts"
import type { ApiKey } from "../../contract/Credentials.ts"
import { type GatewayReason, InvalidRequest, InvalidResponse } from "../../contract/GatewayError.ts"
import type { Images } from "../../gateway/Images.ts"
import { loadImage } from "../../media/ImageFormat.ts"
import { type CallOptions, makeCaller } from "../call/Caller.ts"
import type { AttemptFailure } from "../transport/CallResult.ts"
import { isHttp, withDownloadErrors, withRedirects } from "../transport/Redirects.ts"
import { mapResult, sendAndDecode } from "../transport/SendAndDecode.ts"
import type { MediaContext } from "./MediaContext.ts"
import { writeFileAtomically } from "./WriteFile.ts"

const IMAGE = { what: "the image", lifetime: "links expire, those of group I4 after 24 hours" }

/** The bytes behind a link. An expired link is `NotFound`, whatever status its host sends. */
const fetchImage = ({ baseUrl, client }: MediaContext, apiKey: ApiKey, link: string) => {
  const url = URL.parse(link)
  if (url === null || !isHttp(url)) {
    return Effect.fail<AttemptFailure>({
      reason: new InvalidRequest({ message: "The image's link is not an http or https URL.", param: "url" })
    })
  }
  const request = HttpClientRequest.get(url)
  const isGateway = url.origin === new URL(baseUrl).origin
  const signed = isGateway ? HttpClientRequest.bearerToken(request, apiKey) : request
  // A link gives access to the image, so no span may contain it.
  const response = Effect.provideService(
    withRedirects(client, baseUrl).execute(signed),
    HttpClient.TracerDisabledWhen,
    () => true
  )
  return withDownloadErrors({ baseUrl, ...IMAGE }, response, (send) =>
    sendAndDecode(
      send,
      ({ arrayBuffer }) => Effect.map(arrayBuffer, (buffer) => new Uint8Array(buffer)),
      baseUrl
    )
  )
}

const parseImage = (bytes: Uint8Array) =>
  Effect.fromResult(Result.mapError(loadImage(bytes), (message) => new InvalidResponse({ message })))

/** `load` and `save` of `gateway.images`. */
export const makeImageDownload = (
  options: CallOptions & { readonly apiKey: ApiKey },
  context: MediaContext
): Pick<Images, "load" | "save"> => {
  // Without middleware: failures of another host say nothing about the gateway.
  const { call, fail } = makeCaller(options, options.apiKey)
  const refuse = (operation: string) => (reason: GatewayReason) =>
    fail({ operation }, { reason, notExecuted: true })

  const load: Images["load"] = Effect.fnUntraced(function* ({ base64, url }) {
    const operation = "images.load"
    if (base64 !== undefined) {
      const bytes = decodeBase64(base64)
      const image =
        bytes === undefined
          ? Effect.fail(new InvalidResponse({ message: "The image's Base64 is damaged." }))
          : parseImage(bytes)
      return yield* Effect.mapError(image, refuse(operation))
    }
    if (url === undefined) {
      const message = "The image has neither Base64 nor a link: there is nothing to load."
      return yield* refuse(operation)(new InvalidRequest({ message }))
    }
    return yield* call({ operation }, mapResult(parseImage)(fetchImage(context, options.apiKey, url)))
  })

  const save: Images["save"] = Effect.fnUntraced(function* (image, path) {
    const loaded = yield* load(image)
    yield* Effect.mapError(
      writeFileAtomically(context.files, path, Stream.succeed(loaded.bytes)),
      refuse("images.save")
    )
    return loaded
  })
  return { load, save }
}
