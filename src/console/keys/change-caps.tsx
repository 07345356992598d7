import { useState } from 'preact/hooks'
import { call } from '../api.js'
import { AskedToConfirm, type LeftAuthorization, useConfirmed } from '../parts/confirmed-action.js'
import { Dialog } from '../parts/dialog.js'
import { formatCap, usdMicros } from '../parts/money.js'
import { Problem } from '../parts/states.js'
import type { Key } from './key.js'

const USD_PATTERN = '[0-9]{1,12}([.][0-9]{1,6})?'

interface Caps {
  readonly daily_limit_usd: string
  readonly monthly_limit_usd: string
}

/** New caps, with what changes in words; larger ones are confirmed by a passkey. */
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
  const [daily, setDaily] = useState(fieldOf(key.daily_limit_usd))
  const [monthly, setMonthly] = useState(fieldOf(key.monthly_limit_usd))
  const caps: Caps = { daily_limit_usd: capOf(daily), monthly_limit_usd: capOf(monthly) }
  const changes = changesOf(key, caps)
  const confirmed = useConfirmed(
    (wish: Caps, authorization: LeftAuthorization | null) =>
      call('PATCH', '/api/v1/agent/keys/:key_id', {
        key_id: key.key_id,
        ...wish,
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
          <label>
            A day, USD
            <input
              inputMode="decimal"
              pattern={USD_PATTERN}
              disabled={confirmed.asked !== null}
              value={daily}
              onInput={(event) => setDaily(event.currentTarget.value.trim())}
            />
          </label>
          <label>
            A month, USD
            <input
              inputMode="decimal"
              pattern={USD_PATTERN}
              disabled={confirmed.asked !== null}
              value={monthly}
              onInput={(event) => setMonthly(event.currentTarget.value.trim())}
            />
          </label>
        </div>
        <p class="small mute">An empty cap is none.</p>
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

function fieldOf(cap: string): string {
  return cap === 'unlimited' ? '' : cap
}

function capOf(field: string): string {
  return field === '' ? 'unlimited' : field
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
  return isLarger ? `${what}, which is more: your passkey confirms it` : `${what}, at once`
}
