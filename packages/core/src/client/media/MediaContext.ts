/** What the image and video calls of one client share. */
import { Effect, FileSystem, Option } from "effect"
import type { HttpClient } from "effect/http"
import type { ModelGroup } from "../../contract/Models.ts"
import { ModelCatalogue } from "../../gateway/ModelCatalogue.ts"
import type { Caller } from "../call/Caller.ts"
import type { Send } from "../transport/Send.ts"

export interface MediaContext {
  readonly caller: Caller
  /** With the time-outs of calls that generate. */
  readonly generating: Caller
  readonly baseUrl: string
  /** Makes the calls of the contract. */
  readonly send: Send
  /** The same through another client, for responses of any size. */
  readonly makeStreamed: (client: HttpClient.HttpClient) => Send
  /** For links: as the program provides it, with the headers of the options. */
  readonly client: HttpClient.HttpClient
  /** For videos. */
  readonly downloads: HttpClient.HttpClient
  readonly files: FileSystem.FileSystem
  /** The group of a model, by the catalogue of the call's context, else by the one given to the client's layer. */
  readonly groupOf: (model: string) => Effect.Effect<ModelGroup | undefined>
}

export const makeMediaContext = Effect.fnUntraced(function* (
  options: Omit<MediaContext, "files" | "groupOf">
) {
  const files = yield* FileSystem.FileSystem
  const catalogue = yield* Effect.serviceOption(ModelCatalogue)
  const groupOf: MediaContext["groupOf"] = (model) =>
    Effect.map(Effect.serviceOption(ModelCatalogue), (current) =>
      Option.orElse(current, () => catalogue).pipe(
        Option.flatMap(({ groupOf }) => groupOf(model)),
        Option.getOrUndefined
      )
    )
  return { ...options, files, groupOf }
})
