import { useRef, useState } from 'preact/hooks'
import { chainName } from '../parts/chain-names.js'
import { ChainOptions } from '../parts/chain-options.js'
import { shortened } from '../parts/copy-button.js'
import { Card } from '../parts/page.js'
import { StatusPill } from '../parts/status-pill.js'
import { useQuestion } from '../use-action.js'
import type { JsonObject } from './draft.js'
import { Faults } from './faults.js'
import { callOf, OPERATIONS, type TestedCall } from './tested-call.js'
import { type Verdict, verdictsOf } from './use-verdicts.js'
import { EFFECT_WORDS } from './wire.js'

const TONES = { allow: 'ok', require_approval: 'warn', deny: 'bad' } as const

interface Tested {
  readonly call: TestedCall
  readonly policy: JsonObject | null
  readonly verdict: Verdict | undefined
}

/** Judges one call by the draft now; nothing is sent. */
export function TryCall(shown: { readonly keyId: string; readonly policy: JsonObject | null }) {
  const { keyId, policy } = shown
  const form = useRef<HTMLFormElement>(null)
  const [tested, setTested] = useState<Tested | null>(null)
  const test = useQuestion(() => {
    const call = callOf(new FormData(form.current ?? undefined))
    return verdictsOf(keyId, [call], policy).then(([verdict]) => ({ call, policy, verdict }))
  }, setTested)
  const isCurrent = tested?.policy === policy
  return (
    <Card title="Test a call">
      <form
        ref={form}
        onInput={() => setTested(null)}
        onSubmit={(event) => {
          event.preventDefault()
          test.run()
        }}
      >
        <div class="pair">
          <label>
            Operation
            <select name="operation">
              {OPERATIONS.map((one) => (
                <option key={one} value={one}>
                  {one.replaceAll('_', ' ')}
                </option>
              ))}
            </select>
          </label>
          <label>
            Chain
            <select name="chain">
              <ChainOptions />
            </select>
          </label>
        </div>
        <label>
          To
          <input
            name="to"
            required
            spellcheck={false}
            autocomplete="off"
            pattern="0x[0-9a-fA-F]{40}"
            placeholder="0x…"
          />
        </label>
        <div class="pair">
          <label>
            Native amount
            <input name="value" inputMode="decimal" pattern="[0-9]{1,30}([.][0-9]{1,18})?" />
          </label>
          <label>
            Calldata
            <input
              name="data"
              spellcheck={false}
              autocomplete="off"
              pattern="0x([0-9a-fA-F]{2})*"
              placeholder="0x"
            />
          </label>
        </div>
        <label>
          Token it gives the wallet
          <input
            name="token_out"
            spellcheck={false}
            autocomplete="off"
            pattern="native|0x[0-9a-fA-F]{40}"
            placeholder="0x… or native; of a send: empty"
          />
        </label>
        {test.error !== null && <Faults error={test.error} />}
        {isCurrent && tested?.verdict !== undefined && <VerdictShown of={tested} />}
        <div class="actions">
          <button type="submit" disabled={test.isRunning}>
            {test.isRunning ? 'Judging…' : 'Test it'}
          </button>
        </div>
      </form>
    </Card>
  )
}

function VerdictShown({ of: { call, verdict } }: { readonly of: Tested }) {
  if (verdict === undefined) return null
  const { effect, rule, reasons } = verdict
  return (
    <div class="notice" role="status">
      <p class="small">
        {call.operation.replaceAll('_', ' ')} to <code>{shortened(call.to)}</code> on{' '}
        {chainName(call.chain_id)}
      </p>
      <p>
        <EffectPill effect={effect} /> {rule !== null && <>by {rule}</>}
      </p>
      <ul class="small">
        {reasons.map((reason) => (
          <li key={reason}>{reason}</li>
        ))}
      </ul>
    </div>
  )
}

export function EffectPill({ effect }: { readonly effect: Verdict['effect'] }) {
  return <StatusPill status={EFFECT_WORDS[effect] ?? effect} tone={TONES[effect]} />
}
