/** The models that there are: what this server serves, and what the account behind it lists. */
import { effect, signal, untracked } from "@preact/signals"
import { toFailure, type Failure } from "../api/RequestError.ts"
import { online } from "../api/request.ts"
import { listAll, listServed, type Model } from "../api/gateway.ts"
import { route } from "../page/route.ts"
import { session } from "../page/session.ts"

export const models = signal<ReadonlyArray<Model> | undefined>(undefined)
export const modelsFailure = signal<Failure | undefined>(undefined)

/** The server's own list says more of a model than an account's. */
export const refreshModels = async (): Promise<void> => {
  const [served, all] = await Promise.allSettled([listServed(), listAll()])
  const failures = [served, all].flatMap((each) => (each.status === "rejected" ? toFailure(each.reason) : []))
  // Whoever signed in with an API key is not shown the account's list: the server's own is enough then.
  modelsFailure.value = failures.find(({ status }) => status !== 403)
  const known = new Map<string, Model>()
  for (const list of [all, served]) {
    if (list.status === "fulfilled") for (const model of list.value.data) known.set(model.id, model)
  }
  if (served.status === "fulfilled" || all.status === "fulfilled") {
    // In the order in which the server names its own.
    const own = served.status === "fulfilled" ? served.value.data : []
    models.value = [...new Map([...own, ...known.values()].map((model) => [model.id, model])).values()]
  }
}

/** Models for an operation: those that say so, else those that say nothing. */
export const modelsFor = (operation: string): ReadonlyArray<Model> => {
  const all = models.value ?? []
  const sure = all.filter((model) => model.operation === operation)
  return sure.length > 0 ? sure : all.filter((model) => model.operation === undefined)
}

effect(() => {
  const { view } = route.value
  const shown = view === "models" || view === "playground"
  if (session.value === "open" && online.value && shown) untracked(() => void refreshModels())
})
