/** Images and videos of vendors that have other models too. */
import { startDashScopeMedia } from "./fakes/dashscopeMedia.ts"
import { startGoogleMedia } from "./fakes/googleMedia.ts"
import { startOpenAiImages } from "./fakes/openaiImages.ts"
import { startSiliconFlowMedia } from "./fakes/siliconflowMedia.ts"
import { LINK, PICTURE, type VendorCases } from "./MediaCases.ts"
import { PNG } from "./fakes/MediaVendor.ts"

export const MODEL_VENDORS: ReadonlyArray<VendorCases> = [
  {
    dialect: "dashscope",
    start: startDashScopeMedia,
    key: "sk-dashscope-0123456789",
    wrong: { request: { size: "wide" }, param: "size" },
    images: [
      {
        model: "wan2.2-t2i-flash",
        mode: "task",
        lost: 1,
        cases: [
          {
            request: { n: 3, size: "1024x1024", prompt_extend: false },
            path: "/api/v1/services/aigc/text2image/image-synthesis",
            body: {
              model: "wan2.2-t2i-flash",
              input: { prompt: "a lock" },
              parameters: { n: 3, size: "1024*1024", prompt_extend: false }
            }
          }
        ]
      },
      {
        model: "qwen-image",
        mode: "once",
        cases: [
          {
            request: { n: 2, size: "1328x1328" },
            path: "/api/v1/services/aigc/multimodal-generation/generation",
            body: {
              model: "qwen-image",
              input: { messages: [{ role: "user", content: [{ text: "a lock" }] }] },
              parameters: { n: 2, size: "1328*1328" }
            }
          },
          {
            request: { image: PICTURE, watermark: false },
            path: "/api/v1/services/aigc/multimodal-generation/generation",
            body: {
              model: "qwen-image",
              input: { messages: [{ role: "user", content: [{ image: PICTURE }, { text: "a lock" }] }] },
              parameters: { watermark: false }
            }
          }
        ]
      },
      {
        model: "wan2.5-i2i-preview",
        mode: "task",
        cases: [
          {
            request: { n: 1, image: PICTURE },
            path: "/api/v1/services/aigc/image2image/image-synthesis",
            body: {
              model: "wan2.5-i2i-preview",
              input: { prompt: "a lock", images: [PICTURE] },
              parameters: { n: 1 }
            }
          }
        ]
      }
    ],
    videos: {
      model: "wan2.6-t2v",
      seconds: "5",
      cases: [
        {
          request: { seconds: "10", size: "1280x720", watermark: false, duration: 60, resolution: "4K" },
          path: "/api/v1/services/aigc/video-generation/video-synthesis",
          body: {
            model: "wan2.6-t2v",
            input: { prompt: "a lock" },
            parameters: { size: "1280*720", duration: 10, watermark: false }
          }
        },
        {
          request: { size: "720p", input_reference: LINK },
          path: "/api/v1/services/aigc/video-generation/video-synthesis",
          body: {
            model: "wan2.6-t2v",
            input: { prompt: "a lock", img_url: LINK },
            parameters: { resolution: "720P" }
          }
        }
      ]
    }
  },
  {
    dialect: "google",
    start: startGoogleMedia,
    key: "AIza-0123456789abcdef",
    wrong: { request: { aspect_ratio: "wide" }, param: "size" },
    ownFiles: true,
    images: [
      {
        model: "imagen-4.0-generate-001",
        mode: "once",
        blocks: true,
        cases: [
          {
            request: { n: 2, size: "2K", aspect_ratio: "16:9", sampleCount: 4, imageSize: "4K" },
            path: "/v1beta/models/imagen-4.0-generate-001:predict",
            body: {
              instances: [{ prompt: "a lock" }],
              parameters: { sampleCount: 2, aspectRatio: "16:9", imageSize: "2K" }
            }
          }
        ]
      },
      {
        model: "gemini-2.5-flash-image",
        mode: "once",
        usage: { input_tokens: 9, output_tokens: 1290, total_tokens: 1299 },
        blocks: true,
        perCall: 1,
        cases: [
          {
            request: { size: "2K", aspect_ratio: "16:9", image: PICTURE, seed: 7, candidateCount: 4 },
            path: "/v1beta/models/gemini-2.5-flash-image:generateContent",
            body: {
              contents: [
                {
                  role: "user",
                  parts: [
                    { text: "a lock" },
                    { inlineData: { mimeType: "image/png", data: PNG.toString("base64") } }
                  ]
                }
              ],
              generationConfig: {
                responseModalities: ["IMAGE"],
                imageConfig: { aspectRatio: "16:9", imageSize: "2K" },
                seed: 7
              }
            }
          }
        ]
      }
    ],
    videos: {
      model: "veo-3.1-generate-preview",
      cases: [
        {
          request: {
            sampleCount: 4,
            durationSeconds: 60,
            seconds: "8",
            size: "1280x720",
            input_reference: PICTURE,
            personGeneration: "allow_adult"
          },
          path: "/v1beta/models/veo-3.1-generate-preview:predictLongRunning",
          body: {
            instances: [
              {
                prompt: "a lock",
                image: { bytesBase64Encoded: PNG.toString("base64"), mimeType: "image/png" }
              }
            ],
            parameters: {
              aspectRatio: "16:9",
              resolution: "720p",
              durationSeconds: 8,
              personGeneration: "allow_adult"
            }
          }
        }
      ]
    }
  },
  {
    dialect: "openai",
    start: startOpenAiImages,
    key: "sk-openai-0123456789abc",
    wrong: { request: { size: "7x7" }, param: "size" },
    moderationCode: "moderation_blocked",
    images: [
      {
        model: "gpt-image-1",
        mode: "once",
        cases: [
          {
            request: { n: 2, size: "1024x1024", quality: "high" },
            path: "/v1/images/generations",
            body: { model: "gpt-image-1", prompt: "a lock", n: 2, size: "1024x1024", quality: "high" }
          },
          { request: { n: 2, image: PICTURE, input_fidelity: "high" }, path: "/v1/images/edits", body: {} }
        ]
      }
    ]
  },
  {
    dialect: "siliconflow",
    start: startSiliconFlowMedia,
    key: "sk-siliconflow-0123456789",
    wrong: { request: { size: "wide" } },
    images: [
      {
        model: "Kwai-Kolors/Kolors",
        mode: "once",
        cases: [
          {
            request: { n: 2, size: "960x1280", negative_prompt: "rain", batch_size: 4 },
            path: "/v1/images/generations",
            body: {
              model: "Kwai-Kolors/Kolors",
              prompt: "a lock",
              image_size: "960x1280",
              batch_size: 2,
              negative_prompt: "rain"
            }
          },
          {
            request: {},
            path: "/v1/images/generations",
            body: { model: "Kwai-Kolors/Kolors", prompt: "a lock", image_size: "1024x1024" }
          }
        ]
      },
      {
        model: "Qwen/Qwen-Image-Edit-2509",
        mode: "once",
        cases: [
          {
            request: { image: [PICTURE, LINK] },
            path: "/v1/images/generations",
            body: { model: "Qwen/Qwen-Image-Edit-2509", prompt: "a lock", image: PICTURE, image2: LINK }
          }
        ]
      }
    ],
    videos: {
      model: "Wan-AI/Wan2.2-T2V-A14B",
      seconds: "5",
      cases: [
        {
          request: { size: "9:16", seed: 7 },
          path: "/v1/video/submit",
          body: { model: "Wan-AI/Wan2.2-T2V-A14B", prompt: "a lock", image_size: "720x1280", seed: 7 }
        },
        {
          request: { seconds: "5", input_reference: PICTURE },
          path: "/v1/video/submit",
          body: {
            model: "Wan-AI/Wan2.2-T2V-A14B",
            prompt: "a lock",
            image_size: "1280x720",
            image: PICTURE
          }
        }
      ]
    }
  }
]
