/** Files and requests that are made to take much time cost in proportion to their size. */
import { afterAll, beforeAll, it } from "vitest"
import { modelMonsters, monsters, pdfMonsters, readMonsters } from "./monsters.ts"
import { makeLaw } from "./monstersLaw.ts"

let law: ReturnType<typeof makeLaw>
beforeAll(() => void (law = makeLaw()))
afterAll(() => law.stop())

for (const monster of [...monsters, ...modelMonsters, ...readMonsters]) {
  it(`grows with the size: ${monster.name}`, () => law.assertLinear(monster, 65_536))
}

// PDFium's memory does not shrink: each PDF needs a thread of its own. From 1 MB on, the texts and drawings of a page that are
// compared with each other are at their limits.
for (const monster of pdfMonsters) {
  it(`grows with the size: ${monster.name}`, async () => {
    const own = makeLaw()
    await own.assertLinear(monster, 2_000_000).finally(own.stop)
  })
}
