/** The reports on a group of image models: of the reference gateway, and of one that refuses nothing. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { check, having } from "./Checking.ts"
import { carelessGateway } from "./faultyGateways.ts"
import { GROUP_NAMES, type GROUP_RULES, IMAGE, ofGroup, othersOf } from "./imageGroups.ts"
import { FAULTS } from "./requestFaults.ts"
import { serveGateway } from "./serveGateway.ts"

type GroupRules = (typeof GROUP_RULES)[number]

export const passesRules = ({ group }: GroupRules) =>
  Effect.gen(function* () {
    const { url, world } = yield* serveGateway()
    const report = yield* check(url, ofGroup(group))
    assert.deepStrictEqual(having(report, "fails"), [])
    assert.isTrue(report.conforms)
    // The task did not fail, and V-A is queued: these rules cannot be judged.
    const left = ["GET /v1/videos/{} error", "GET /v1/videos/{} queued"]
    assert.sameMembers(having(report, "skipped"), [...othersOf(group), ...left])
    assert.deepStrictEqual([...world.tokens.keys()], [1, 2])
    assert.strictEqual(world.videos.size, 0)
  }).pipe(Effect.scoped)

export const failsEachRule = ({ group, refused }: GroupRules) =>
  Effect.gen(function* () {
    const { url } = yield* serveGateway(carelessGateway, Infinity)
    const failed = having(yield* check(url, ofGroup(group)), "fails")
    const expected = Object.entries(FAULTS).flatMap(([call, rules]) =>
      Object.keys(rules)
        .filter((rule) => call !== IMAGE || !GROUP_NAMES.has(rule) || refused.some((own) => own === rule))
        .map((rule) => `${call} ${rule}`)
    )
    assert.sameMembers(failed, expected)
  }).pipe(Effect.scoped)
