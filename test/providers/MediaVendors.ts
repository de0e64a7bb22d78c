/** Vendors of images and videos only. */
import { startFal } from "./fakes/fal.ts"
import { KLING_PAIR, startKling } from "./fakes/kling.ts"
import { startLuma } from "./fakes/luma.ts"
import { startReplicate } from "./fakes/replicate.ts"
import { startRunway } from "./fakes/runway.ts"
import { LINK, PICTURE, type VendorCases } from "./MediaCases.ts"
import { PNG } from "./fakes/MediaVendor.ts"

/** Vendors of images and videos. Their own names of what is billed, such as `num_images`, do not replace it. */
export const MEDIA_VENDORS: ReadonlyArray<VendorCases> = [
  {
    dialect: "runway",
    start: startRunway,
    key: "sk-runway-0123456789",
    removal: "DELETE /v1/tasks/",
    wrong: { request: { size: "wide" }, param: "size" },
    images: [
      {
        model: "gen4_image",
        mode: "task",
        perCall: 1,
        cases: [
          {
            request: { size: "1920x1080", seed: 7, image: PICTURE },
            path: "/v1/text_to_image",
            body: {
              model: "gen4_image",
              promptText: "a lock",
              ratio: "1920:1080",
              seed: 7,
              referenceImages: [{ uri: PICTURE }]
            }
          }
        ]
      }
    ],
    videos: {
      model: "gen4.5",
      progress: 40,
      cases: [
        {
          request: { seconds: "8", size: "720x1280", contentModeration: { publicFigureThreshold: "low" } },
          path: "/v1/text_to_video",
          body: {
            model: "gen4.5",
            promptText: "a lock",
            ratio: "720:1280",
            duration: 8,
            contentModeration: { publicFigureThreshold: "low" }
          }
        },
        {
          request: { seconds: "5", input_reference: { image_url: LINK }, duration: 60 },
          path: "/v1/image_to_video",
          body: { model: "gen4.5", promptText: "a lock", ratio: "1280:720", duration: 5, promptImage: LINK }
        },
        {
          request: { size: "1080p" },
          path: "/v1/text_to_video",
          body: { model: "gen4.5", promptText: "a lock", resolution: "1080p" }
        }
      ]
    }
  },
  {
    dialect: "luma",
    start: startLuma,
    key: "luma-0123456789abcdef",
    base: "/dream-machine/v1",
    removal: "DELETE /dream-machine/v1/generations/",
    wrong: { request: { size: "2:7" }, param: "size" },
    images: [
      {
        model: "photon-1",
        mode: "task",
        perCall: 1,
        cases: [
          {
            request: { size: "1024x1024", image: LINK, output_format: "png" },
            path: "/dream-machine/v1/generations/image",
            body: {
              model: "photon-1",
              prompt: "a lock",
              aspect_ratio: "1:1",
              image_ref: [{ url: LINK }],
              output_format: "png"
            }
          }
        ]
      }
    ],
    videos: {
      model: "ray-2",
      cases: [
        {
          request: {
            seconds: "9",
            size: "1280x720",
            input_reference: LINK,
            loop: true,
            duration: "60s",
            resolution: "4k"
          },
          path: "/dream-machine/v1/generations/video",
          body: {
            model: "ray-2",
            prompt: "a lock",
            aspect_ratio: "16:9",
            resolution: "720p",
            duration: "9s",
            keyframes: { frame0: { type: "image", url: LINK } },
            loop: true
          }
        },
        {
          request: { size: "1080p" },
          path: "/dream-machine/v1/generations/video",
          body: { model: "ray-2", prompt: "a lock", resolution: "1080p" }
        }
      ]
    }
  },
  {
    dialect: "replicate",
    start: startReplicate,
    key: "r8_0123456789abcdef",
    removal: "POST /v1/predictions/",
    moderatesLate: true,
    wrong: { request: { aspect_ratio: "wide" }, param: "size" },
    images: [
      {
        model: "black-forest-labs/flux-dev",
        mode: "task",
        cases: [
          {
            request: {
              n: 2,
              size: "1344x768",
              image: PICTURE,
              output_format: "png",
              num_outputs: 4,
              resolution: "4k"
            },
            path: "/v1/models/black-forest-labs/flux-dev/predictions",
            body: {
              input: {
                prompt: "a lock",
                aspect_ratio: "16:9",
                num_outputs: 2,
                image: PICTURE,
                output_format: "png"
              }
            }
          }
        ]
      }
    ],
    videos: {
      model: "kwaivgi/kling-video:5c7d5dc6dd8bf75c",
      cases: [
        {
          request: { seconds: "5", size: "720p", input_reference: LINK, duration: 60 },
          path: "/v1/predictions",
          body: {
            version: "5c7d5dc6dd8bf75c",
            input: { prompt: "a lock", resolution: "720p", duration: 5, image: LINK }
          }
        }
      ]
    }
  },
  {
    dialect: "fal",
    start: startFal,
    key: "fal-id:fal-secret-0123456789",
    removal: "PUT /fal-ai/",
    moderatesLate: true,
    wrong: { request: { aspect_ratio: "wide" }, param: "size", whenRun: true },
    images: [
      {
        model: "fal-ai/flux/dev",
        mode: "task",
        cases: [
          {
            request: {
              n: 2,
              size: "1024x768",
              image: PICTURE,
              seed: 7,
              num_images: 4,
              image_size: "8k",
              resolution: "8K"
            },
            path: "/fal-ai/flux/dev",
            body: {
              prompt: "a lock",
              image_size: { width: 1024, height: 768 },
              num_images: 2,
              image_url: PICTURE,
              seed: 7
            }
          },
          {
            request: { size: "2k", image: [PICTURE, LINK] },
            path: "/fal-ai/flux/dev",
            body: { prompt: "a lock", resolution: "2K", image_urls: [PICTURE, LINK] }
          }
        ]
      }
    ],
    videos: {
      model: "fal-ai/veo3/video",
      cases: [
        {
          request: {
            seconds: "8",
            size: "16:9",
            input_reference: LINK,
            generate_audio: false,
            duration: "60",
            resolution: "4k"
          },
          path: "/fal-ai/veo3/video",
          body: {
            prompt: "a lock",
            aspect_ratio: "16:9",
            duration: "8",
            image_url: LINK,
            generate_audio: false
          }
        }
      ]
    }
  },
  {
    dialect: "kling",
    start: startKling,
    key: KLING_PAIR,
    wrong: { request: { size: "2:7" }, param: "size" },
    images: [
      {
        model: "kling-v2-1",
        mode: "task",
        cases: [
          {
            request: { n: 2, size: "1024x1024", image: PICTURE, image_fidelity: 0.7 },
            path: "/v1/images/generations",
            body: {
              model_name: "kling-v2-1",
              prompt: "a lock",
              n: 2,
              aspect_ratio: "1:1",
              image: PNG.toString("base64"),
              image_fidelity: 0.7
            }
          },
          {
            request: { size: "2k", aspect_ratio: "16:9" },
            path: "/v1/images/generations",
            body: { model_name: "kling-v2-1", prompt: "a lock", aspect_ratio: "16:9", resolution: "2k" }
          }
        ]
      }
    ],
    videos: {
      model: "kling-v2-6",
      seconds: "5",
      cases: [
        {
          request: { seconds: "10", size: "1920x1080", negative_prompt: "rain", duration: "60" },
          path: "/v1/videos/text2video",
          body: {
            model_name: "kling-v2-6",
            prompt: "a lock",
            aspect_ratio: "16:9",
            mode: "pro",
            duration: "10",
            negative_prompt: "rain"
          }
        },
        {
          request: { size: "720p", input_reference: LINK },
          path: "/v1/videos/image2video",
          body: { model_name: "kling-v2-6", prompt: "a lock", mode: "std", image: LINK }
        },
        {
          request: { size: "1280x720", input_reference: PICTURE },
          path: "/v1/videos/image2video",
          body: { model_name: "kling-v2-6", prompt: "a lock", mode: "std", image: PNG.toString("base64") }
        }
      ]
    }
  }
]
