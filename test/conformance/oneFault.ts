/** A gateway with one fault fails the rule that it breaks, and no other. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { BrokenGateway } from "./brokenGateways.ts"
import { check, everything, having } from "./Checking.ts"
import { ofGroup } from "./imageGroups.ts"
import { referenceGateway } from "./ReferenceGateway.ts"
import { serveGateway } from "./serveGateway.ts"

const CHAT = "POST /v1/chat/completions"

/** The call of a rule such as `POST /v1/rerank topN`. */
export const callOf = (rule: string): string => rule.slice(0, rule.lastIndexOf(" "))

export const failsOneRule = ({ breaks, gateway, group }: BrokenGateway) =>
  Effect.gen(function* () {
    const { url } = yield* serveGateway(gateway)
    const options = group === undefined ? everything : ofGroup(group)
    // The reference gateway's own chat passes its rules. Its check sends an image of 20 MB, which takes 0.2 s.
    const { calls, opens } = referenceGateway
    const isChatKept = gateway.opens === opens && gateway.calls[CHAT] === calls[CHAT]
    const models = { ...options.models, ...(isChatKept && { chat: "none" }) }
    const report = yield* check(url, { ...options, models })
    const expected = isChatKept ? [`${CHAT} answers`, breaks] : [breaks]
    assert.sameMembers(having(report, "fails", "interface"), expected)
    assert.isFalse(report.conforms)
    assert.strictEqual(report.totals.interface.fails, expected.length)
  }).pipe(Effect.scoped)
