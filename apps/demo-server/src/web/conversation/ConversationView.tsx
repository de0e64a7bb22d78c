/** A conversation: its turns, what can be done with each, and the box for the next question. */
import { useSignal } from "@preact/signals"
import { MAX_TITLE } from "../../contract/Conversations.ts"
import { AnswerView } from "../ask/AnswerView.tsx"
import { EditForm, FollowUpForm } from "../ask/FollowUp.tsx"
import {
  editTurn,
  rateTurn,
  removeThread,
  renameThread,
  sharedPath,
  shareThread,
  thread,
  threadError,
  type TurnState,
  unshareThread
} from "../questions/conversation.ts"
import { Confirm } from "../ui/ActionForm.tsx"
import { CopyButton, LinkButton, NewTabLink } from "../ui/Button.tsx"
import { ErrorMessage, LoadState } from "../ui/Notices.tsx"

/** The answer as Markdown, with its quotes as footnotes. */
const markdownOf = ({ answer, citations }: TurnState): string =>
  [
    (answer?.answer ?? "").replaceAll(/\[(\d+)\]/g, "[^$1]"),
    ...citations.map(({ n, quote, title }) => `[^${n}]: “${quote.replaceAll(/\s+/g, " ").trim()}” (${title})`)
  ].join("\n\n")

const ThreadTitle = ({ title }: { readonly title: string }) => {
  const editing = useSignal(false)
  return editing.value ? (
    <EditForm
      action="Rename"
      label="The title"
      value={title}
      most={MAX_TITLE}
      onDone={() => (editing.value = false)}
      send={(text) => void renameThread(text)}
    />
  ) : (
    <p class="thread-title">
      <strong>{title}</strong> <LinkButton onClick={() => (editing.value = true)}>Rename</LinkButton>
    </p>
  )
}

const TurnActions = ({ turn }: { readonly turn: TurnState }) => {
  const editing = useSignal(false)
  if (turn.state === "asking") return null
  if (editing.value)
    return (
      <EditForm
        action="Ask"
        label="The question"
        value={turn.question}
        onDone={() => (editing.value = false)}
        send={(text) => editTurn(turn, text)}
      />
    )
  const RATINGS = [
    ["up", "Good"],
    ["down", "Bad"]
  ] as const
  return (
    <p class="row baseline turn-actions">
      <LinkButton onClick={() => (editing.value = true)}>Edit</LinkButton>
      <LinkButton onClick={() => turn.again?.()}>Regenerate</LinkButton>
      {turn.answer !== undefined && (
        <>
          <CopyButton text={markdownOf(turn)} what="the answer" />
          {turn.number !== undefined &&
            RATINGS.map(([rating, name]) => (
              <LinkButton
                key={rating}
                aria-pressed={turn.rating === rating}
                aria-label={`${name} answer`}
                onClick={() => void rateTurn(turn, rating)}
              >
                {name}
              </LinkButton>
            ))}
        </>
      )}
    </p>
  )
}

export const ConversationView = () => {
  const now = thread.value
  if (now === undefined) return <LoadState error={threadError.value} loaded={false} />
  const exported = (format: string) => `/conversations/${now.id}/export?format=${format}`
  return (
    <div class="asking thread">
      <ThreadTitle title={now.title} key={now.id} />
      <p class="row baseline turn-actions">
        <a href="#ask">New conversation</a>
        <NewTabLink href={exported("html")}>Export HTML</NewTabLink>
        <NewTabLink href={exported("markdown")}>Export Markdown</NewTabLink>
        <LinkButton onClick={() => void shareThread()}>{now.shared ? "New link" : "Share"}</LinkButton>
        {now.shared && <LinkButton onClick={() => void unshareThread()}>Stop sharing</LinkButton>}
        <Confirm action="Delete" onConfirm={() => void removeThread()} opener={{ children: "Delete" }}>
          Delete this conversation? Its link stops working. This can’t be undone.
        </Confirm>
      </p>
      {sharedPath.value !== undefined && (
        <p class="row breakable notice screen-only">
          Everyone with this link can read the conversation. You won’t see it again:{" "}
          <code>{new URL(sharedPath.value, location.href).href}</code>{" "}
          <CopyButton text={new URL(sharedPath.value, location.href).href} what="the link" />
        </p>
      )}
      <ErrorMessage error={threadError.value} />
      {now.turns.map((turn) => (
        <div class="turn" key={turn.key}>
          <AnswerView question={turn} />
          <TurnActions turn={turn} key={turn.question} />
        </div>
      ))}
      <FollowUpForm id={now.id} />
    </div>
  )
}
