/** Whether the last change of the providers file was rejected. The server stays ready and reports it. */
import { Context, Effect, Layer, Metric } from "effect"

const rejected = Metric.gauge("sluice_providers_file_refused", {
  description: "1 if the last change of the providers file was rejected"
})

/** The result of the last reload. */
export class ProvidersFileState extends Context.Service<ProvidersFileState>()(
  "@sluice/demo-server/ProvidersFileState",
  {
    make: Effect.gen(function* () {
      let isRejected = false
      const setRejected = (value: boolean) =>
        Effect.suspend(() => {
          isRejected = value
          return Metric.update(rejected, value ? 1 : 0)
        })
      yield* setRejected(false)
      return { isRejected: () => isRejected, setRejected }
    })
  }
) {
  static readonly layer = Layer.effect(ProvidersFileState, ProvidersFileState.make)
}
