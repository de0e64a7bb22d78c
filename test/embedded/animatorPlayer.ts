/** Plays a film in a real browser: decodes it, seeks, and plays to the end. */
import type { Browser } from "playwright-core"

export interface Played {
  /** In pixels. */
  readonly videoWidth: number
  readonly videoHeight: number
  /** In seconds. */
  readonly duration: number
  /** Where it stood when it had ended. */
  readonly currentTime: number
  /** At each of the moments: four bytes a pixel. */
  readonly pictures: ReadonlyArray<ReadonlyArray<number>>
}

/** Runs in the page. Text, because the tests are typed without browser globals. */
const watch = (source: string, moments: ReadonlyArray<number>): string => `(async () => {
  const video = document.createElement("video")
  const until = (name) => new Promise((resolve, reject) => {
    video.addEventListener(name, () => resolve(), { once: true })
    video.addEventListener("error", () => reject(new Error(video.error.message)), { once: true })
  })
  const ready = Promise.all([until("canplaythrough"), new Promise((resolve) => video.requestVideoFrameCallback(resolve))])
  video.muted = true
  video.src = ${JSON.stringify(source)}
  await ready
  const canvas = document.createElement("canvas")
  canvas.width = video.videoWidth
  canvas.height = video.videoHeight
  const context = canvas.getContext("2d")
  const pictures = []
  for (const moment of ${JSON.stringify(moments)}) {
    const found = until("seeked")
    // Found is not yet shown: what is drawn is the picture that was shown last.
    const shown = moment === video.currentTime
      ? undefined
      : new Promise((resolve) => video.requestVideoFrameCallback(resolve))
    video.currentTime = moment
    await found
    await shown
    context.drawImage(video, 0, 0)
    pictures.push([...context.getImageData(0, 0, canvas.width, canvas.height).data])
  }
  const end = until("ended")
  await video.play()
  await end
  const { currentTime, duration, videoHeight, videoWidth } = video
  return { currentTime, duration, videoHeight, videoWidth, pictures }
})()`

/** Seeks to these times in seconds and plays on from the last. Fails if the browser cannot decode the film. */
export const played = async (
  browser: Browser,
  mp4: Uint8Array,
  moments: ReadonlyArray<number>
): Promise<Played> => {
  const page = await browser.newPage()
  const source = `data:video/mp4;base64,${Buffer.from(mp4).toString("base64")}`
  const seen = await page.evaluate<Played>(watch(source, moments))
  await page.close()
  return seen
}
