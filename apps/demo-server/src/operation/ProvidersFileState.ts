/** Whether the file of the providers says what goes on: a change that is refused leaves the server ready, and is told. */
import { Context, Effect, Layer, Metric } from "effect"

const refusals = Metric.gauge("sluice_providers_file_refused", {
  description: "1 while the file of the providers has a change that was not taken over"
})

/** The last that was made of the file. */
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
