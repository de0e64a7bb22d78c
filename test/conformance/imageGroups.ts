/** The rules of each group of image models, and the options that check them. */
import type { ImageGroup } from "@sluice/core/contract"
import { everything } from "./Checking.ts"
import { MODELS } from "./ReferenceGateway.ts"

export const IMAGE = "POST /v1/images/generations"

/** The rules of each group of image models: values that are refused, and what shows in the image. */
export const GROUP_RULES = [
  { group: "I1", refused: ["input_fidelity", "moderation", "output_format"], shown: ["format"] },
  { group: "I2", refused: ["image"], shown: [] },
  { group: "I3", refused: ["seed", "watermark"], shown: [] },
  {
    group: "I4",
    refused: ["seed", "watermark", "sequential_image_generation", "response_format", "fused"],
    shown: ["base64"]
  },
  { group: "I5", refused: ["safety_tolerance", "aspect_ratio", "seed", "raw"], shown: ["ratio"] },
  { group: "I6", refused: [], shown: [] }
] as const
export const GROUP_NAMES = new Set<string>(
  GROUP_RULES.flatMap(({ refused, shown }) => [...refused, ...shown])
)

/** The rules of the other groups. */
export const othersOf = (group: ImageGroup) => {
  const { refused = [], shown = [] } = GROUP_RULES.find((rules) => rules.group === group) ?? {}
  return [...GROUP_NAMES.difference(new Set<string>([...refused, ...shown]))].map(
    (rule) => `${IMAGE} ${rule}`
  )
}

export const ofGroup = (group: ImageGroup) => ({
  ...everything,
  models: { ...MODELS, image: `${MODELS.image}-${group.toLowerCase()}` },
  groups: { image: group, video: "V-A" } as const
})
