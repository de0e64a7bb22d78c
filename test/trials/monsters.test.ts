/** Files and requests that are made to take much time cost in proportion to their size. */
import { afterAll, beforeAll, it } from "vitest"
import { modelMonsters, monsters } from "./monsters.ts"
import { makeLaw } from "./monstersLaw.ts"

let law: ReturnType<typeof makeLaw>
beforeAll(() => void (law = makeLaw()))
afterAll(() => law.stop())

for (const monster of [...monsters, ...modelMonsters]) {
  it(`grows with the size: ${monster.name}`, () => law.assertLinear(monster, 65_536))
}
