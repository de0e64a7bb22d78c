/** Every gateway with one fault fails the rule that it breaks, and no other. `npm test` has one gateway of each call, and one group. */
import { it } from "@effect/vitest"
import { brokenGateways } from "../conformance/brokenGateways.ts"
import { failsEachRule, passesRules } from "../conformance/groupReports.ts"
import { GROUP_RULES } from "../conformance/imageGroups.ts"
import { failsOneRule } from "../conformance/oneFault.ts"

it.live.each(brokenGateways)("$does: fails $breaks and no other rule", failsOneRule)

const groups = GROUP_RULES.slice(1)

it.live.each(groups)("the reference gateway passes every rule of $group", passesRules)
it.live.each(groups)("a gateway that refuses nothing fails each rule, also for $group", failsEachRule)
