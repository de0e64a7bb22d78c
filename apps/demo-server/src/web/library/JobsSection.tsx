/** Jobs in the background: progress, cancel, and what failed. */
import type { Job } from "../../contract/Documents.ts"
import { cancelJob, clearJobs, isActive, jobs, jobsError } from "../documents/jobs.ts"
import { LinkButton } from "../ui/Button.tsx"
import { pluralize } from "../ui/format.ts"
import { ErrorMessage, ProgressBar } from "../ui/Notices.tsx"
import { FailedFiles } from "./FailedFiles.tsx"

const titleOf = ({ collection, files, kind }: Job): string =>
  kind === "rebuild" ? "Rebuild" : `Upload of ${pluralize(files ?? 0, "file")} to ${collection ?? "default"}`

const JobItem = ({ of: job }: { readonly of: Job }) => {
  const { done, error, files = 0, reading, report, status } = job
  const title = titleOf(job)
  return (
    <li data-state={status}>
      <span>{title}</span>
      <span class="quiet">
        {done.toLocaleString()}
        {files > 0 && ` of ${files.toLocaleString()}`}
      </span>
      <span class="upload-state no-break">{status}</span>
      {isActive(job) && (
        <>
          <ProgressBar label={title} done={done} total={files} />
          {reading !== undefined && (
            <p class="quiet">
              {reading.path}: page {reading.done.toLocaleString()} of {reading.pages.toLocaleString()}
            </p>
          )}
          <p>
            <LinkButton aria-label={`Cancel: ${title}`} onClick={() => cancelJob(job)}>
              Cancel
            </LinkButton>
          </p>
        </>
      )}
      {error !== undefined && <p>{error.message}</p>}
      <FailedFiles failed={report?.failed ?? []} unlisted={report?.unlisted} />
    </li>
  )
}

export const JobsSection = () => {
  const all = jobs.value
  if (all.length === 0) return <ErrorMessage error={jobsError.value} />
  return (
    <section class="stack card entries jobs" aria-label="Jobs">
      <p class="row baseline ends uploads-head">
        <strong>In the background</strong>
        {!all.some(isActive) && <LinkButton onClick={clearJobs}>Clear</LinkButton>}
      </p>
      <ul class="lines uploads-list">
        {all.map((job) => (
          <JobItem key={job.id} of={job} />
        ))}
      </ul>
    </section>
  )
}
