/** The dashboard and the alerts of deploy/ name metrics and labels that a server has. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import { filesOf, startServer } from "./TestServer.ts"
import { json, startUpstream } from "./Upstream.ts"

const textOf = (name: string) => readFileSync(new URL(`../../deploy/${name}`, import.meta.url), "utf8")

/** Every `expr` in a JSON value. */
const exprsIn = (value: unknown): ReadonlyArray<string> =>
  typeof value !== "object" || value === null
    ? []
    : Object.entries(value).flatMap(([name, inner]) => (name === "expr" ? [String(inner)] : exprsIn(inner)))

const dashboard = exprsIn(JSON.parse(textOf("grafana-dashboard.json")))
const alerts = [...textOf("alerts.yaml").matchAll(/^ +expr: (.+)$/gm)].map(([, expr = ""]) => expr)

/** The words of PromQL that these queries use. */
const WORDS = new Set("by histogram_quantile increase rate sum".split(" "))

/** The metrics of a query, and the labels that it expects of one of them. */
const namesIn = (expr: string) => {
  const plain = expr.replaceAll(/"[^"]*"/g, '""').replaceAll(/\[[^\]]*\]/g, "")
  const selectors = [...plain.matchAll(/([a-z_]\w*)\{([^}]*)\}/g)].map(([, metric = "", matchers = ""]) => ({
    metric,
    labels: [...matchers.matchAll(/(\w+)\s*[=!]/g)].map(([, label = ""]) => label)
  }))
  const grouped = [...plain.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, labels = ""]) => labels.split(/,\s*/))
  const rest = plain.replaceAll(/\{[^}]*\}/g, "").replaceAll(/\bby \([^)]*\)/g, "")
  const metrics = (rest.match(/[a-z_]\w*/gi) ?? []).filter((word) => !WORDS.has(word) && word !== "e9")
  return { metrics, selectors, grouped }
}

/** What Prometheus adds to every series. */
const OWN_LABELS = new Set(["job", "instance"])

/** The labels of each metric of `/metrics`. */
const metricsOf = (text: string) => {
  const metrics = new Map<string, Set<string>>([["up", new Set()]])
  for (const [, name = "", labels = ""] of text.matchAll(/^([a-z_]\w*)(?:\{(.*)\})? \S+$/gim)) {
    const known = metrics.get(name) ?? new Set()
    for (const [, label = ""] of labels.matchAll(/(\w+)="/g)) known.add(label)
    metrics.set(name, known)
  }
  return metrics
}

/** The metrics of a server with an upstream and of one without, after a use of everything that counts. */
const served = Effect.gen(function* () {
  const upstream = yield* startUpstream((response) => json(response, { error: { message: "no" } }, 500))
  const remote = yield* startServer({ env: upstream.env })
  const local = yield* startServer()
  yield* remote.call("/v1/rerank", { json: { model: "r", query: "q", documents: ["d"] } })
  yield* local.call("/documents", { body: filesOf({ "heron.md": "# Heron\n\nThe heron waits.\n" }) })
  yield* local.call("/qa", { json: { question: "Where does the heron wait?" } })
  const texts = yield* Effect.forEach([remote, local, remote], ({ call }) =>
    Effect.flatMap(call("/metrics", { as: "none" }), (response) => Effect.promise(() => response.text()))
  )
  return metricsOf(texts.join("\n"))
})

describe("deploy/", () => {
  it("has a query in every panel and every alert", () => {
    const { panels } = JSON.parse(textOf("grafana-dashboard.json")) as {
      readonly panels: ReadonlyArray<object>
    }
    assert.isTrue(panels.every((panel) => exprsIn(panel).length > 0))
    assert.lengthOf(alerts, textOf("alerts.yaml").match(/- alert: /g)?.length ?? -1)
    assert.isAbove(alerts.length, 9)
  })

  it.live("names only metrics and labels that a server has", () =>
    Effect.gen(function* () {
      const metrics = yield* served
      for (const expr of [...dashboard, ...alerts]) {
        const { grouped, metrics: named, selectors } = namesIn(expr)
        assert.isAbove(named.length, 0, expr)
        for (const metric of named) assert.isTrue(metrics.has(metric), `${metric} in ${expr}`)
        for (const { labels, metric } of selectors)
          for (const label of labels)
            assert.isTrue(
              OWN_LABELS.has(label) || metrics.get(metric)?.has(label) === true,
              `${label} in ${expr}`
            )
        for (const label of grouped)
          assert.isTrue(
            named.some((metric) => metrics.get(metric)?.has(label) === true),
            `${label} in ${expr}`
          )
      }
    }).pipe(Effect.scoped)
  )

  it("finds a metric, a label and a group that do not exist", () => {
    const found = namesIn('sum by (le, route) (rate(a_total{job="x", status=~"5.."}[5m])) / b > 4e9')
    assert.deepStrictEqual(found, {
      metrics: ["a_total", "b"],
      selectors: [{ metric: "a_total", labels: ["job", "status"] }],
      grouped: ["le", "route"]
    })
  })
})
