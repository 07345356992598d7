import { useState } from 'preact/hooks'
import { call } from '../api.js'
import { CapField } from '../parts/cap-field.js'
import { AskedToConfirm, type LeftAuthorization, useConfirmed } from '../parts/confirmed-action.js'
import { Dialog } from '../parts/dialog.js'
import { formatCap, usdMicros } from '../parts/money.js'
import { Problem } from '../parts/states.js'
import type { Key } from './key.js'

interface Caps {
  readonly daily_limit_usd: string
  readonly monthly_limit_usd: string
}

/** Changes caps and shows the change as text; a passkey confirms larger ones. */
export function ChangeCaps({ of: key }: { readonly of: Key }) {
  const [isOpen, open] = useState(false)
  return (
    <>
      <button type="button" aria-label={`Change caps of ${key.name}`} onClick={() => open(true)}>
        Change caps
      </button>
      {isOpen && <CapsDialog of={key} onClose={() => open(false)} />}
    </>
  )
}

function CapsDialog({ of: key, onClose }: { readonly of: Key; readonly onClose: () => void }) {
  const [daily, setDaily] = useState<string>(key.daily_limit_usd)
  const [monthly, setMonthly] = useState<string>(key.monthly_limit_usd)
  const caps: Caps = { daily_limit_usd: daily, monthly_limit_usd: monthly }
  // A cleared field is not a cap yet, nor a request for no cap.
  const changes = daily === '' || monthly === '' ? [] : changesOf(key, caps)
  const confirmed = useConfirmed(
    (submission: Caps, authorization: LeftAuthorization | null) =>
      call('PATCH', '/api/v1/agent/keys/:key_id', {
        key_id: key.key_id,
        ...submission,
        ...(authorization === null ? {} : { authorization }),
      }),
    onClose,
  )
  return (
    <Dialog title={`Caps of ${key.name}`} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          confirmed.run(caps)
        }}
      >
        <div class="pair">
          <CapField
            label="A day, USD"
            initial={key.daily_limit_usd}
            isDisabled={confirmed.asked !== null}
            onChange={setDaily}
          />
          <CapField
            label="A month, USD"
            initial={key.monthly_limit_usd}
            isDisabled={confirmed.asked !== null}
            onChange={setMonthly}
          />
        </div>
        <ul class="small" aria-live="polite">
          {changes.map((words) => (
            <li key={words}>{words}</li>
          ))}
        </ul>
        {confirmed.error !== null && <Problem error={confirmed.error} />}
        {confirmed.asked !== null && <AskedToConfirm asked={confirmed.asked} />}
        <div class="actions end">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          {confirmed.asked === null && (
            <button
              type="submit"
              class="primary"
              disabled={confirmed.isRunning || changes.length === 0}
            >
              {confirmed.isRunning ? 'Changing…' : 'Change'}
            </button>
          )}
        </div>
      </form>
    </Dialog>
  )
}

function changesOf(key: Key, caps: Caps): string[] {
  return [
    changeOf('A day', key.daily_limit_usd, caps.daily_limit_usd),
    changeOf('A month', key.monthly_limit_usd, caps.monthly_limit_usd),
  ].filter((words) => words !== null)
}

function changeOf(period: string, from: string, to: string): string | null {
  const [before, after] = [usdMicros(from), usdMicros(to)]
  if (before === after) return null
  const isLarger = before !== null && (after === null || after > before)
  const what = `${period}: ${formatCap(from)} → ${formatCap(to)}`
  return isLarger ? `${what}, an increase that your passkey must confirm` : `${what}, at once`
}
