import { useQueryClient } from '@tanstack/preact-query'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { ApiError } from '../answers.js'
import { Dialog } from './dialog.js'
import { oneByOne } from './one-by-one.js'
import { Problem } from './states.js'
import { Left } from './times.js'

/** The proof that the identity provider holds, by the id under which the service requested it. */
export interface LeftAuthorization {
  readonly authorization_id: string
}

interface Confirmation {
  readonly authorizationId: string
  readonly url: string | null
  readonly manageUrl: string | null
  readonly before: string
  readonly hasAuthorizer: boolean
}

const POLL_MS = 2_000

/**
 * Runs a step that must be confirmed: the service answers what to confirm, the identity provider's
 * page shows it and asks for a passkey, and then the same call succeeds. That page opens in another
 * tab; this one polls until the step is done, refused or expired.
 */
export function useConfirmed<W, T>(
  act: (submission: W, authorization: LeftAuthorization | null) => Promise<T>,
  onDone: (answer: T) => void,
) {
  const client = useQueryClient()
  const [isRunning, setRunning] = useState(false)
  const [error, setError] = useState<unknown>(null)
  const [asked, setAsked] = useState<(Confirmation & { readonly submission: W }) | null>(null)

  const latest = useRef({ act, onDone })
  latest.current = { act, onDone }

  async function attempt(submission: W, authorization: LeftAuthorization | null): Promise<void> {
    try {
      const answer = await latest.current.act(submission, authorization)
      setAsked(null)
      setRunning(false)
      latest.current.onDone(answer)
      await client.invalidateQueries()
    } catch (thrown) {
      const confirmation = confirmationOf(thrown)
      const asksAgain = authorization !== null && isAnother(confirmation, authorization)
      if (confirmation !== null && !asksAgain) {
        setAsked({ ...confirmation, submission })
      } else if (!(authorization !== null && isSilence(thrown))) {
        setAsked(null)
        setError(asksAgain ? new Error(IT_IS_OVER) : thrown)
      }
      setRunning(false)
    }
  }

  useEffect(() => {
    if (asked === null) return
    const over = new AbortController()
    const id = { authorization_id: asked.authorizationId }
    void oneByOne(() => attempt(asked.submission, id), POLL_MS, over.signal)
    return () => over.abort()
  }, [asked])

  return {
    isRunning,
    error,
    asked,
    run: (submission: W) => {
      setError(null)
      setRunning(true)
      void attempt(submission, null)
    },
  }
}

const IT_IS_OVER = 'The time to confirm this has expired. Try again.'

/** Whether the requested confirmation is no longer known, because its time is over. */
function isAnother(asked: Confirmation | null, before: LeftAuthorization): boolean {
  return asked !== null && asked.authorizationId !== before.authorization_id
}

/** The confirmation stays valid while the service is unavailable. */
function isSilence(thrown: unknown): boolean {
  return thrown instanceof ApiError && (thrown.status === 0 || thrown.status >= 500)
}

function confirmationOf(thrown: unknown): Confirmation | null {
  if (!(thrown instanceof ApiError) || thrown.code !== 'AUTHORIZATION_REQUIRED') return null
  const { authorization_id, confirm_url, manage_url, confirm_before, authorizers } = thrown.details
  return {
    authorizationId: String(authorization_id),
    url: typeof confirm_url === 'string' ? confirm_url : null,
    manageUrl: typeof manage_url === 'string' ? manage_url : null,
    before: String(confirm_before),
    hasAuthorizer: Array.isArray(authorizers) && authorizers.length > 0,
  }
}

/**
 * Shows where to confirm and for how long; or, without an approver device, where to enrol the first
 * one.
 */
export function AskedToConfirm({ asked }: { readonly asked: Confirmation }) {
  const { url, manageUrl } = asked
  if (!asked.hasAuthorizer) {
    return (
      <div class="notice">
        <p>This must be confirmed with a passkey, and you have none yet.</p>
        {manageUrl !== null && (
          <a class="button primary" href={manageUrl} target="_blank" rel="noopener">
            Add a passkey
          </a>
        )}
      </div>
    )
  }
  return (
    <div class="notice" role="status">
      <p>
        This must be confirmed with your passkey. The page of your identity provider shows the
        details; <Left until={asked.before} /> left.
      </p>
      {url === null ? (
        <p>
          Confirm it at the command line: <code>countersign authorizer</code>
        </p>
      ) : (
        <a class="button primary" href={url} target="_blank" rel="noopener">
          Confirm with your passkey
        </a>
      )}
      <p class="small mute">This page continues once you have.</p>
    </div>
  )
}

/** A button, the question as text, and the confirmation. */
export function ConfirmedAction<T>(shown: {
  readonly label: string
  readonly title: string
  readonly act: (authorization: LeftAuthorization | null) => Promise<T>
  readonly children: ComponentChildren
}) {
  const [isOpen, open] = useState(false)
  const close = () => open(false)
  return (
    <>
      <button type="button" onClick={() => open(true)}>
        {shown.label}
      </button>
      {isOpen && (
        <ConfirmDialog title={shown.title} label={shown.label} act={shown.act} onClose={close}>
          {shown.children}
        </ConfirmDialog>
      )}
    </>
  )
}

function ConfirmDialog<T>(shown: {
  readonly title: string
  readonly label: string
  readonly act: (authorization: LeftAuthorization | null) => Promise<T>
  readonly onClose: () => void
  readonly children: ComponentChildren
}) {
  const { label, onClose } = shown
  const confirmed = useConfirmed(
    (_submission: null, authorization: LeftAuthorization | null) => shown.act(authorization),
    onClose,
  )
  return (
    <Dialog title={shown.title} onClose={onClose}>
      {shown.children}
      {confirmed.error !== null && <Problem error={confirmed.error} />}
      {confirmed.asked !== null && <AskedToConfirm asked={confirmed.asked} />}
      <div class="actions end">
        <button type="button" onClick={onClose}>
          Cancel
        </button>
        {confirmed.asked === null && (
          <button
            type="button"
            class="primary"
            disabled={confirmed.isRunning}
            onClick={() => confirmed.run(null)}
          >
            {confirmed.isRunning ? 'Working…' : label}
          </button>
        )}
      </div>
    </Dialog>
  )
}
