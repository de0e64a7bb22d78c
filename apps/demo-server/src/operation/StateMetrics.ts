/** The gauges of the server's state, which are read when the metrics are. */
import { jobCounts } from "@sluice/core/workers"
import { Effect, Metric } from "effect"
import { RunningQuestions } from "../libraries/RunningQuestions.ts"
import { MediaTasks } from "../media/MediaTasks.ts"
import { Providers } from "../routing/Providers.ts"

type Labels = Readonly<Record<string, string>>

/** Sets a gauge for each of its labels. Labels that are no longer given become 0. */
const makeGauge = (name: string, description: string) => {
  const gauge = Metric.gauge(name, { description })
  const known = new Map<string, Labels>()
  return (values: ReadonlyArray<readonly [labels: Labels, value: number]>) => {
    const current = new Map(values.map(([labels, value]) => [JSON.stringify(labels), value]))
    for (const [labels] of values) known.set(JSON.stringify(labels), labels)
    return Effect.forEach(
      known,
      ([key, labels]) => Metric.update(Metric.withAttributes(gauge, labels), current.get(key) ?? 0),
      { discard: true }
    )
  }
}

const countBy = (all: ReadonlyArray<Labels>): ReadonlyArray<readonly [Labels, number]> =>
  [...Map.groupBy(all, (labels) => JSON.stringify(labels)).values()].map((same) => [
    same[0] ?? {},
    same.length
  ])

/** Updates all gauges. */
export const makeStateMetrics = Effect.gen(function* () {
  const { counts } = yield* MediaTasks
  const providers = yield* Providers
  const questions = yield* RunningQuestions
  const memory = makeGauge("process_resident_memory_bytes", "Resident memory of the process")
  const tasks = makeGauge("sluice_media_tasks", "Stored image and video tasks")
  const circuits = makeGauge("sluice_upstream_circuit_open", "1 while calls to the upstream are refused")
  const models = makeGauge("sluice_models", "Models by provider, operation and group")
  const running = makeGauge("sluice_questions_running", "Questions that are being answered")
  const jobs = makeGauge("sluice_worker_jobs", "Jobs of the pool of threads")

  const update = Effect.gen(function* () {
    yield* memory([[{}, process.memoryUsage.rss()]])
    // If the database fails, the last counts stay.
    const stored = yield* Effect.option(counts)
    if (stored._tag === "Some") {
      yield* tasks(stored.value.map(({ kind, number, status }) => [{ kind, status }, number]))
    }
    const guarded = providers.flatMap(({ guard, id }) => (guard === undefined ? [] : [{ guard, id }]))
    const open = yield* Effect.forEach(guarded, ({ guard, id }) =>
      Effect.map(guard.isOpen, (isOpen) => [{ upstream: id }, isOpen ? 1 : 0] as const)
    )
    yield* circuits(open)
    yield* models(
      countBy(
        providers.flatMap(({ id, models }) =>
          models.map(({ group, operation }) => ({ upstream: id, operation, group: group ?? operation }))
        )
      )
    )
    yield* running([[{}, questions.running()]])
    yield* jobs(Object.entries(jobCounts()).map(([state, number]) => [{ state }, number]))
  })
  return { update }
})
