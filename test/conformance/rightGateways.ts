/** Correct gateways that a careless check would fail. */
import { TINY_MP4 } from "../../packages/core/src/testing/TinyMp4.ts"
import {
  type Gateway,
  type Handler,
  handlerOf,
  MODELS,
  referenceGateway,
  refuse
} from "./ReferenceGateway.ts"

export interface RightGateway {
  /** The unusual but correct behaviour. */
  readonly does: string
  /** The named models; others are guessed. */
  readonly models: { readonly [Of in keyof typeof MODELS]?: string }
  /** The skipped rules, with their reasons. */
  readonly skips: Readonly<Record<string, RegExp>>
  readonly gateway: Gateway
}

const { calls, opens } = referenceGateway

const EMBED = "POST /v1/embeddings"
const CHAT = "POST /v1/chat/completions"
const IMAGE = "POST /v1/images/generations"
const IMAGE_TASK = "GET /v1/images/generations/{}"
const RERANK = "POST /v1/rerank"
const VIDEO = "POST /v1/videos"
const TOKEN = "PUT /api/token/"
const CONTENT = "GET /v1/videos/{}/content"

const listing = (models: ReadonlyArray<string>): Gateway["calls"] => {
  const data = models.map((id) => ({ id, object: "model" }))
  return {
    "GET /v1/models": () => ({ json: { data } }),
    "GET /api/models": () => ({ json: { data } }),
    "GET /api/user/available_models": () => ({ json: { data } })
  }
}

/** The reference gateway with more models, first in its lists. */
const having = (models: ReadonlyArray<string>, changed: Gateway["calls"]): Gateway => ({
  opens,
  calls: { ...calls, ...listing([...models, ...Object.values(MODELS)]), ...changed }
})

/** The refusal of a model for another purpose. */
const notFor =
  (model: string, call: string): Handler =>
  (request) =>
    request.body.model === model
      ? refuse(400, "This model is for something else", "model")
      : handlerOf(call)(request)

/** A success with additional fields. */
const beside =
  // The responses of the reference gateway, whose form is known.
  // oxlint-disable-next-line typescript/no-explicit-any
  (call: string, change: (json: any) => unknown): Handler =>
    (request) => {
      const reply = handlerOf(call)(request)
      return reply.status === undefined && reply.json !== undefined
        ? { ...reply, json: change(reply.json) }
        : reply
    }

const TEXT_ONLY = "text-chat-1"

/** One of its two chat models accepts no images. */
const readingTextAlone: Handler = (request) => {
  const { messages, model } = request.body
  if (model !== TEXT_ONLY) return handlerOf(CHAT)(request)
  return messages.some(({ content }) => typeof content !== "string")
    ? refuse(400, "I read text alone", "messages")
    : handlerOf(CHAT)({ ...request, body: { ...request.body, model: MODELS.chat } })
}

const IMAGE_TO_VIDEO = "wave-2.6-image-to-video"

export const rightGateways: ReadonlyArray<RightGateway> = [
  {
    does: "has an image-to-video model",
    models: {},
    skips: {},
    gateway: having([IMAGE_TO_VIDEO], {
      [IMAGE]: notFor(IMAGE_TO_VIDEO, IMAGE),
      [VIDEO]: notFor(IMAGE_TO_VIDEO, VIDEO)
    })
  },
  {
    does: "has a model that only edits images",
    models: {},
    skips: {
      [`${IMAGE} answers`]: /^image-edit-1 is a guess .* --image-model \(status 400, “This model/,
      [`${IMAGE} images`]: /--image-model$/
    },
    gateway: having(["image-edit-1"], { [IMAGE]: notFor("image-edit-1", IMAGE) })
  },
  {
    does: "has a model that embeds images",
    models: {},
    skips: {
      [`${EMBED} answers`]: /--embedding-model/,
      "POST /api/token/ opens": /--embedding-model/,
      "PUT /api/token/ disabledKey": /--embedding-model/
    },
    gateway: having(["embed-pictures"], { [EMBED]: notFor("embed-pictures", EMBED) })
  },
  {
    does: "has a text-only chat model",
    models: {},
    skips: {},
    gateway: having([TEXT_ONLY], { [CHAT]: readingTextAlone })
  },
  {
    does: "has only a text-only chat model",
    models: {},
    skips: {
      [`${CHAT} images`]: /^text-chat-1 is a guess .* --chat-model \(status 400, “I read/,
      [`${CHAT} gif`]: /no images/
    },
    gateway: {
      opens,
      calls: {
        ...calls,
        ...listing([TEXT_ONLY, MODELS.embedding, MODELS.rerank]),
        [CHAT]: readingTextAlone
      }
    }
  },
  {
    does: "accepts an expiry only in its own form",
    models: {},
    skips: { [`${TOKEN} expires`]: /no form but -1$/ },
    gateway: having([], {
      [TOKEN]: (request) =>
        request.body.expired_time === -1
          ? handlerOf(TOKEN)(request)
          : refuse(400, "Write it as 2030-01-02", "expired_time")
    })
  },
  {
    does: "has a chat model that spends all tokens on reasoning",
    models: {},
    skips: { [`${CHAT} text`]: /^the model spent all of 512 tokens before its first word$/ },
    gateway: having([], {
      [CHAT]: (request) => {
        const reply = handlerOf(CHAT)(request)
        if (reply.status !== undefined || reply.events !== undefined) return reply
        const limit = request.body.max_tokens ?? 0
        const usage = {
          completion_tokens: limit + 2,
          completion_tokens_details: { reasoning_tokens: limit }
        }
        const message = { role: "assistant", reasoning_content: "Grass, let me think" }
        return { json: { choices: [{ index: 0, message, finish_reason: "length" }], usage } }
      }
    })
  },
  {
    does: "sends additional fields of unusual types",
    models: MODELS,
    skips: {},
    gateway: {
      opens,
      calls: {
        ...calls,
        "GET /api/models": beside("GET /api/models", ({ data }) => ({
          data: data.map((model: object) => ({ ...model, created: "2026", owned_by: 7, object: null }))
        })),
        [RERANK]: beside(RERANK, (json) => ({ ...json, id: 7, model: {}, usage: { total_tokens: "9" } })),
        [CHAT]: beside(CHAT, (json) => ({
          ...json,
          id: 7,
          created: 1.5,
          choices: json.choices.map((choice: object) => ({ ...choice, index: "0", finish_reason: 1 }))
        }))
      }
    }
  },
  {
    does: "redirects videos to a signed link on another host",
    models: {},
    skips: {},
    gateway: {
      opens: (world, path, credential) => path.startsWith("/stored/") || opens(world, path, credential),
      calls: {
        ...calls,
        [CONTENT]: (request) => {
          const { bytes, ...reply } = handlerOf(CONTENT)(request)
          return bytes === undefined
            ? reply
            : { status: 302, bytes: Buffer.alloc(0), headers: { location: "/stored/1.mp4?signature=7" } }
        },
        "GET /stored/{}": ({ query }) =>
          query.get("signature") === "7"
            ? { bytes: TINY_MP4, headers: { "content-type": "video/mp4" } }
            : refuse(403, "Not signed")
      }
    }
  },
  {
    does: "omits the id of a failed image task",
    models: { twoStepImage: MODELS.twoStepImage },
    skips: { [`${IMAGE_TASK} urls`]: /^the task was not completed$/ },
    gateway: having([], {
      [IMAGE_TASK]: (request) => {
        const { status } = handlerOf(IMAGE_TASK)(request)
        return status === 404
          ? refuse(404, "There is no such task")
          : { json: { status: "failed", error: { message: "The prompt was not allowed" } } }
      }
    })
  }
]
