import type { ComponentChildren } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { ApiError } from '../answers.js'
import { Card } from '../parts/page.js'
import { Problem } from '../parts/states.js'
import { StatusPill } from '../parts/status-pill.js'
import { type Submission, submissionsOf } from '../parts/submissions.js'
import { TransactionLink } from '../parts/transaction-link.js'
import { UNANSWERED } from '../parts/unanswered.js'
import { useAction, useQuestion } from '../use-action.js'

const SENT_BEFORE =
  'It was sent before, but the answer was lost. Check the transactions; ask again to send it once more.'

interface Sent {
  readonly status: string
  readonly tx_id: string
}

/**
 * An action by hand: first its predicted outcome, then the action itself. Exactly the request that
 * was quoted is carried out, once, however often the button is pressed. Changed terms, or the same
 * terms after it was carried out, are another request.
 */
export function useQuoted<W, Q>(calls: {
  /** Everything that is sent, as JSON. */
  readonly submission: W
  readonly quote: (submission: W) => Promise<Q>
  readonly go: (submission: W, submissionId: string, quote: Q) => Promise<Sent>
}) {
  const [asked, setAsked] = useState<{ readonly of: Submission<W>; readonly quote: Q } | null>(null)
  const [sent, setSent] = useState<Sent | null>(null)
  const submissions = useRef(submissionsOf<W>(() => crypto.randomUUID(), UNANSWERED))
  const submission = submissions.current.for(calls.submission)
  // The answer to an outdated request is ignored.
  const current = asked?.of.id === submission.id ? asked : null
  const asking = useQuestion(
    () => calls.quote(submission.terms).then((quote) => ({ of: submission, quote })),
    (answer) => {
      setSent(null)
      setAsked(answer)
    },
  )
  const going = useAction(
    async () => {
      if (current === null) throw new Error('Ask first.')
      const { of, quote } = current
      submissions.current.sent(of)
      const answer = await calls.go(of.terms, of.id, quote).catch((error: unknown) => {
        // It was sent before this page was loaded, with another quote; the record shows its
        // outcome.
        if (!(error instanceof ApiError) || error.code !== 'IDEMPOTENCY_KEY_REUSED') throw error
        submissions.current.done(of)
        throw new Error(SENT_BEFORE)
      })
      return { of, answer }
    },
    ({ of, answer }) => {
      submissions.current.done(of)
      setAsked(null)
      setSent(answer)
    },
  )
  return { quote: current?.quote ?? null, sent, asking, going }
}

export function QuotedForm<Q>(shown: {
  readonly title: string
  readonly of: ReturnType<typeof useQuoted<unknown, Q>>
  /** Whether the input makes a request. */
  readonly isComplete: boolean
  readonly outcome: (quote: Q) => ComponentChildren
  /** Null if it does not succeed. */
  readonly goLabel: (quote: Q) => string | null
  readonly children: ComponentChildren
}) {
  const { title, isComplete, outcome, goLabel } = shown
  const { quote, sent, asking, going } = shown.of
  const label = quote === null ? null : goLabel(quote)
  return (
    <Card title={title}>
      <form
        aria-label={title}
        onSubmit={(event) => {
          event.preventDefault()
          asking.run()
        }}
      >
        {shown.children}
        {quote !== null && (
          <ul class="small" aria-live="polite">
            {outcome(quote)}
          </ul>
        )}
        {asking.error !== null && <Problem error={asking.error} />}
        {going.error !== null && <Problem error={going.error} />}
        {sent !== null && (
          <p role="status">
            <StatusPill status={sent.status} /> <TransactionLink txId={sent.tx_id} />
          </p>
        )}
        <div class="actions">
          <button type="submit" disabled={!isComplete || asking.isRunning}>
            {asking.isRunning ? 'Checking…' : 'See what it does'}
          </button>
          {label !== null && (
            <button type="button" class="primary" disabled={going.isRunning} onClick={going.run}>
              {going.isRunning ? 'Sending…' : label}
            </button>
          )}
        </div>
      </form>
    </Card>
  )
}
