import { useState } from 'preact/hooks'
import { call, type Output } from '../api.js'
import { Card } from '../parts/page.js'
import { Problem } from '../parts/states.js'
import { StatusPill } from '../parts/status-pill.js'
import { useAction } from '../use-action.js'
import { AddressField } from './address-field.js'

type Checked = Output<'GET', '/api/v1/agent/lists/check'>

/** Checks whether a call that names an address would be refused because of it. */
export function CheckAddress() {
  const [address, setAddress] = useState('')
  const [checked, setChecked] = useState<Checked | null>(null)
  const check = useAction(
    () => call('GET', '/api/v1/agent/lists/check', { address: address.trim() }),
    setChecked,
  )
  return (
    <Card title="Check an address">
      <form
        class="search"
        onSubmit={(event) => {
          event.preventDefault()
          setChecked(null)
          check.run()
        }}
      >
        <AddressField name="checked" value={address} onInput={setAddress} />
        <button type="submit" disabled={check.isRunning}>
          Check
        </button>
      </form>
      {check.error !== null && <Problem error={check.error} />}
      <div class="found" aria-live="polite">
        {checked !== null && <Found of={checked} />}
      </div>
    </Card>
  )
}

function Found({ of: { address, lists, rule, refused } }: { readonly of: Checked }) {
  return (
    <>
      <p class="address">
        <StatusPill status={refused ? 'refused' : 'allowed'} tone={refused ? 'bad' : 'ok'} />{' '}
        <code>{address}</code>
      </p>
      <ul class="small">
        {lists.map(({ list, kind, version }) => (
          <li key={list}>
            On {list} ({kind}), version <code>{version}</code>.
          </li>
        ))}
        {lists.length === 0 && <li>Not on any list.</li>}
        {rule !== null && (
          <li>
            Your rule: {rule.action}.{rule.note !== null && ` ${rule.note}`}
          </li>
        )}
      </ul>
    </>
  )
}
