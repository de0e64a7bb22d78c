/** The endpoints of conversations. */
import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { makeSecret } from "../accounts/Secret.ts"
import { CurrentUser } from "../contract/Access.ts"
import type { ConversationBody } from "../contract/Conversations.ts"
import { ServedApi } from "../http/ServedApi.ts"
import { streamInPortions } from "../wire/JsonPortions.ts"
import { Conversations } from "./Conversations.ts"
import { conversationHtml, conversationMarkdown } from "./ConversationText.ts"

/** The page has no scripts, loads nothing, and its address is not sent to other sites. */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'"

const page = (html: string) =>
  HttpServerResponse.text(html, {
    contentType: "text/html; charset=utf-8",
    headers: {
      "content-security-policy": POLICY,
      "referrer-policy": "no-referrer",
      "cache-control": "no-store"
    }
  })

export const ConversationsLayer = HttpApiBuilder.group(
  ServedApi,
  "conversations",
  Effect.fn(function* (handlers) {
    const { get, list, rate, remove, rename, share } = yield* Conversations
    const asUser = <A, E, R>(use: (user: string) => Effect.Effect<A, E, R>) =>
      Effect.flatMap(CurrentUser, ({ user }) => use(user))
    return handlers.handleAll({
      conversations: () => asUser((user) => Effect.map(list(user), (conversations) => ({ conversations }))),
      conversation: ({ params }) =>
        asUser((user) => get(user, params.id)).pipe(
          // `satisfies`: an answer is the same as its JSON.
          Effect.map((body) => streamInPortions(body satisfies typeof ConversationBody.Encoded))
        ),
      renameConversation: ({ params, payload }) => asUser((user) => rename(user, params.id, payload.title)),
      removeConversation: ({ params }) => asUser((user) => remove(user, params.id)),
      rateAnswer: ({ params, payload }) =>
        asUser((user) => rate(user, params.id, params.number, payload.rating)),
      shareConversation: ({ params }) =>
        asUser((user) => {
          const secret = makeSecret("")
          return Effect.as(share(user, params.id, secret), { path: `/shared/${secret}` })
        }),
      unshareConversation: ({ params }) => asUser((user) => share(user, params.id, null)),
      exportConversation: ({ params, query: { format = "markdown" } }) =>
        asUser((user) => get(user, params.id)).pipe(
          Effect.map((conversation) =>
            format === "html"
              ? page(conversationHtml(conversation))
              : HttpServerResponse.text(conversationMarkdown(conversation), {
                  contentType: "text/markdown; charset=utf-8"
                })
          )
        )
    })
  })
)

export const SharedLayer = HttpApiBuilder.group(
  ServedApi,
  "shared",
  Effect.fn(function* (handlers) {
    const { shared } = yield* Conversations
    return handlers.handle("shared", ({ params }) =>
      Effect.map(shared(params.secret), (conversation) => page(conversationHtml(conversation)))
    )
  })
)
