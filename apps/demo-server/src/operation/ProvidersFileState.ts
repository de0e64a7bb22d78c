/** Whether the last change of the providers' file was refused. The server stays ready, and reports it. */
import { Context, Effect, Layer, Metric } from "effect"

const refusals = Metric.gauge("sluice_providers_file_refused", {
  description: "1 while the file of the providers has a change that was not taken over"
})

/** The result of the last reload. */
export class ProvidersFileState extends Context.Service<
  ProvidersFileState,
  {
    readonly isRefused: () => boolean
    readonly takenOver: Effect.Effect<void>
    readonly refused: Effect.Effect<void>
  }
>()("@sluice/demo-server/ProvidersFileState") {
  static readonly layer = Layer.effect(
    ProvidersFileState,
    Effect.gen(function* () {
      let last = false
      const note = (isRefused: boolean) =>
        Effect.suspend(() => {
          last = isRefused
          return Metric.update(refusals, isRefused ? 1 : 0)
        })
      yield* note(false)
      return { isRefused: () => last, takenOver: note(false), refused: note(true) }
    })
  )
}
