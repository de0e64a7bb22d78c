/** Time from `npm start` until the page answers: with an empty data folder, and with an existing one. */
import { join } from "node:path"
import { type Bench, median, rounded } from "./Bench.ts"
import { withFolder } from "./corpus/CorpusFolder.ts"
import { withServer } from "./server/RunningServer.ts"

const secondsToPage = (data: string) => withServer(data, (server) => Promise.resolve(server.secondsToPage))

export const bench: Bench = async ({ quick }) => {
  const first: Array<number> = []
  const later: Array<number> = []
  for (let at = 0; at < (quick ? 1 : 3); at++) {
    await withFolder(async (folder) => {
      first.push(await secondsToPage(join(folder, "data")))
      later.push(await secondsToPage(join(folder, "data")))
    })
  }
  return {
    "npm start to the page, first start (s)": rounded(median(first)),
    "npm start to the page, later starts (s)": rounded(median(later))
  }
}
