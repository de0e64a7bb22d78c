/**
 * `node --conditions=@sluice/source test/regexps/main.ts [FOLDER]`: checks that the time of every regular expression of the
 * packages grows with the text's length only, or that its text is bounded.
 *
 * `checked.jsonl` has what `recheck` says about each expression. With `FOLDER`, where npm has installed `recheck` (no
 * dependency: `npm install --prefix /tmp/recheck recheck`, FOLDER is /tmp/recheck/node_modules/recheck), it is completed.
 *
 * An expression that is not safe has a reason in `bounds.ts`, which is verified by V8's own count of backtracks: for a text of
 * the bound's length, or for twice the text. The text is the attack that `recheck` found, or those of `triedAttacks`.
 */
import { boundOf } from "./bounds.ts"
import { type Attack, type Checked, readChecked, recheckAll, writeChecked } from "./checked.ts"
import { listRegexps } from "./list.ts"
import { isWithin, stepsOf, textOf, triedAttacks } from "./steps.ts"

/** Backtracks of a bounded expression. They take .17 s of a processor, and nobody may wait longer than .25 s. */
const MAX_STEPS = 50_000_000
/** Characters of a text that is doubled, and how many times the backtracks twice the text may take. */
const LINEAR = { characters: 4_000, ratio: 2.5, atLeast: 100_000 }

const found = await listRegexps()
const checked = readChecked()
const folder = process.argv[2]
if (folder !== undefined) {
  for (const expression of checked.keys()) if (!found.has(expression)) checked.delete(expression)
  const missing = [...found.keys()].filter((expression) => !checked.has(expression))
  let done = 0
  await recheckAll(folder, missing, (expression, result) => {
    checked.set(expression, result)
    if (result.status !== "safe") console.log(result.status, expression)
    if (++done % 100 === 0) writeChecked(checked)
  })
  writeChecked(checked)
}

/** What is wrong with a bound, if anything. */
const faultOf = (
  expression: string,
  characters: number | undefined,
  { attack }: Checked
): string | undefined => {
  const attacks: ReadonlyArray<Attack> = attack === undefined ? triedAttacks(expression) : [attack]
  for (const one of attacks) {
    const shown = JSON.stringify(one.pumps.map(({ prefix, pump }) => [prefix, pump]))
    if (characters !== undefined) {
      if (!isWithin(expression, textOf(one, characters), MAX_STEPS))
        return `more than ${MAX_STEPS} steps for ${characters} characters of ${shown}`
      continue
    }
    const whole = textOf(one, 2 * LINEAR.characters)
    if (isWithin(expression, whole, LINEAR.atLeast)) continue
    const half = stepsOf(expression, textOf(one, LINEAR.characters), 2 * MAX_STEPS)
    if (!isWithin(expression, whole, Math.ceil(LINEAR.ratio * half)))
      return `${half} steps for ${LINEAR.characters} characters of ${shown}, and more than ${LINEAR.ratio} times as many for twice the text`
  }
  return undefined
}

const counts = { safe: 0, bounded: 0, linear: 0 }
const faults: Array<string> = []
for (const [expression, files] of [...found].toSorted()) {
  const result = checked.get(expression)
  const at = `${[...files].join(", ")}\t${expression}`
  if (result === undefined) {
    faults.push(`not checked by recheck (see test/regexps/main.ts)\t${at}`)
    continue
  }
  if (result.status === "safe") {
    counts.safe++
    continue
  }
  // Without a reason, its steps have to grow with the text.
  const bound = boundOf(expression, files)
  const fault = faultOf(expression, bound?.characters, result)
  if (fault !== undefined) faults.push(`${result.status} ${result.complexity ?? ""}: ${fault}\t${at}`)
  else counts[bound === undefined ? "linear" : "bounded"]++
}
for (const fault of faults) console.log(fault)
const { bounded, linear, safe } = counts
console.log(
  `${found.size} regular expressions: ${safe} safe, ${bounded} of bounded texts, ${linear} linear though undecided, ${faults.length} faults`
)
process.exit(faults.length === 0 ? 0 : 1)
