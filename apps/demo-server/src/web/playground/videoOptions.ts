/** Which durations and sizes the groups of video models take; the compiler holds them against the contract's. */
import type { VIDEO_GROUPS } from "@sluice/core/contract"

type Groups = typeof VIDEO_GROUPS

const TAKES = {
  "V-A": { seconds: ["4", "8", "12"], size: ["1280x720", "720x1280", "1792x1024", "1024x1792"] },
  "V-B": { seconds: ["4", "6", "8"], size: ["720p", "1080p", "4k"] },
  "V-C": { seconds: ["4", "6", "8"], size: ["720p", "1080p"] },
  "V-D": {
    seconds: ["2", "3", "4", "5", "6", "8", "10", "12", "15"],
    size: ["1280x720", "1920x1080"]
  },
  "V-E": { seconds: ["5", "10"], size: ["480P", "720P", "1080P"] },
  "V-F": { seconds: ["5"], size: ["480P", "1080P"] },
  "V-G": { seconds: ["5", "10"], size: ["16:9", "9:16", "4:3", "3:4", "1:1", "21:9"] }
} as const satisfies {
  readonly [G in keyof Groups]: {
    readonly seconds: ReadonlyArray<Groups[G]["seconds"][number]>
    readonly size: ReadonlyArray<Groups[G]["size"][number]>
  }
}

interface Takes {
  /** An empty text leaves it to the model. */
  readonly seconds: ReadonlyArray<string>
  readonly size: ReadonlyArray<string>
  /** Whether it begins with an image: each may, one group has to. */
  readonly needsImage: boolean
}

export const takesOf = (group: string | undefined): Takes => {
  const known = Object.entries(TAKES).find(([name]) => name === group)?.[1]
  if (known !== undefined) return { ...known, needsImage: false }
  // Of these the interface says neither: the model itself takes or refuses what is asked.
  return {
    seconds: ["", "2", "4", "5", "8", "10"],
    size: ["", "240P", "480P", "720P", "1080P"],
    needsImage: group === "image-to-video"
  }
}
