/** Every gateway with one fault fails the rule that it breaks, and no other. `npm test` has one gateway of each call. */
import { it } from "@effect/vitest"
import { brokenGateways } from "../conformance/brokenGateways.ts"
import { failsOneRule } from "../conformance/oneFault.ts"

it.live.each(brokenGateways)("$does: fails $breaks and no other rule", failsOneRule)
